import type * as DiagnosticsChannel from 'node:diagnostics_channel';

type Channel<Trace extends object> = DiagnosticsChannel.TracingChannel<unknown, Trace>;

/**
 * Returns a function that opens a tracing channel of this package at its first call; `undefined` if the runtime has none.
 * Not by an import, and not on load: some runtimes of the fetch adapter have no Node modules, and one throws when they
 * are asked for.
 */
export function openChannel<Trace extends object>(name: string): () => Channel<Trace> | undefined {
  let opened: { readonly channel: Channel<Trace> | undefined } | undefined;
  return () => {
    opened ??= { channel: loadDiagnostics()?.tracingChannel<unknown, Trace>(name) };
    return opened.channel;
  };
}

function loadDiagnostics(): typeof DiagnosticsChannel | undefined {
  try {
    return globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');
  } catch {
    return undefined;
  }
}

/** Whether a tracing channel has a subscriber. Bun does not say, so there it may have one. */
export function hasSubscribers<Channel extends { readonly hasSubscribers?: boolean | undefined }>(
  channel: Channel | undefined,
): channel is Channel {
  return channel !== undefined && (channel.hasSubscribers ?? true);
}

const RUN_WITHIN = Symbol.for('merchant-payments.runWithin');

/** Runs the given work once, synchronously. */
export type Runner = (work: () => void) => void;

/**
 * For subscribers of a channel's `start`: lets `runner` run the trace's work, for example within a span. A
 * subscriber can't run it itself, since it returns before the work begins.
 */
export function runWithin(trace: object, runner: Runner): void {
  Object.defineProperty(trace, RUN_WITHIN, { value: runner, configurable: true });
}

/** Runs the trace's work exactly once, whatever the runner does: it may send a payment. */
export function runTraced<Result>(trace: object, work: () => Promise<Result>): Promise<Result> {
  let running: Promise<Result> | undefined;
  const runOnce = (): Promise<Result> => {
    running ??= work();
    return running;
  };
  try {
    (trace as { [RUN_WITHIN]?: Runner })[RUN_WITHIN]?.(() => void runOnce());
  } catch {}
  return runOnce();
}
