import {
  type Meter,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traces,
} from '@opentelemetry/api';
import type { CallbackTrace } from '../receiver/observation.js';
import { DURATION_BOUNDARIES, HTTP, knownMethod, OWN, present } from './attributes.js';
import { attempt, listen, startSpan } from './subscription.js';

/** Records spans and metrics for the callbacks that receivers handle. */
export function watchCallbacks(tracer: Tracer, meter: Meter): () => void {
  const spans = new WeakMap<CallbackTrace, Span>();
  const record = createCallbackRecorder(meter);
  return listen<CallbackTrace>('merchant-payments:callback', {
    start(callback) {
      const attributes = { [HTTP.method]: knownMethod(callback.method) };
      const kind = hasServerSpan() ? SpanKind.INTERNAL : SpanKind.SERVER;
      const span = startSpan(tracer, callback, 'payment callback', { kind, attributes });
      spans.set(callback, span);
    },
    end(callback) {
      attempt(() => endSpan(spans.get(callback), callback));
      record(callback);
    },
  });
}

/** Whether this process already has a span for the request, such as one of HTTP instrumentation. */
function hasServerSpan(): boolean {
  const active = traces.getActiveSpan()?.spanContext();
  return active !== undefined && active.isRemote !== true;
}

function endSpan(span: Span | undefined, callback: CallbackTrace): void {
  const { status = 0, outcome, code, overdue, key, skewSeconds } = callback;
  const isError = status >= 500 || outcome === 'failed';
  const attributes = present({
    [HTTP.statusCode]: status,
    [HTTP.errorType]: isError ? (code ?? String(status)) : undefined,
    [OWN.outcome]: outcome,
    [OWN.code]: code,
    [OWN.overdue]: overdue,
    [OWN.key]: key,
    [OWN.skewSeconds]: skewSeconds,
  });
  span?.setAttributes(attributes);
  if (isError) span?.setStatus({ code: SpanStatusCode.ERROR, ...(code && { message: code }) });
  span?.end();
}

function createCallbackRecorder(meter: Meter): (callback: CallbackTrace) => void {
  const count = meter.createCounter('merchant_payments.callbacks', {
    description: 'Answered requests to the callback endpoint',
    unit: '{callback}',
  });
  const duration = meter.createHistogram('merchant_payments.callback.duration', {
    description: 'Duration of callbacks, including onPayment',
    unit: 's',
    advice: { explicitBucketBoundaries: DURATION_BOUNDARIES },
  });
  return ({ status, outcome, code, overdue, durationMs = 0 }) => {
    const labels = present({
      [HTTP.statusCode]: status,
      [OWN.outcome]: outcome,
      [OWN.code]: code,
      [OWN.overdue]: overdue,
    });
    attempt(() => count.add(1, labels));
    attempt(() => duration.record(durationMs / 1_000, labels));
  };
}
