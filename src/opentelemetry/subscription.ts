import { tracingChannel } from 'node:diagnostics_channel';
import { context, type Span, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';
import { runWithin } from '../protocol/tracing.js';

interface Listeners<Trace> {
  start?(trace: Trace): void;
  end(trace: Trace): void;
}

/** Listens to a tracing channel of this package. Returns a function that stops listening. */
export function listen<Trace extends object>(
  channelName: string,
  { start = () => {}, end }: Listeners<Trace>,
): () => void {
  const channel = tracingChannel<unknown, Trace>(channelName);
  const onStart = (trace: unknown): void => attempt(() => start(trace as Trace));
  const onEnd = (trace: unknown): void => attempt(() => end(trace as Trace));
  channel.start.subscribe(onStart);
  channel.asyncEnd.subscribe(onEnd);
  return () => {
    channel.start.unsubscribe(onStart);
    channel.asyncEnd.unsubscribe(onEnd);
  };
}

/**
 * Runs code that calls an SDK, and ignores its errors: a span processor, an exporter or a sampler may throw,
 * and Node ends the process for an error in a subscriber.
 */
export function attempt(run: () => void): void {
  try {
    run();
  } catch {}
}

/** Starts a span that is active while the traced work runs. */
export function startSpan(
  tracer: Tracer,
  traced: object,
  name: string,
  options: SpanOptions,
): Span {
  const parent = context.active();
  const span = tracer.startSpan(name, options, parent);
  runWithin(traced, (work) => context.with(trace.setSpan(parent, span), work));
  return span;
}
