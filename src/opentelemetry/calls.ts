import {
  type Attributes,
  context,
  type Meter,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traces,
} from '@opentelemetry/api';
import type { CallTrace, RequestTrace } from '../client/observation.js';
import { runWithin } from '../protocol/tracing.js';
import { createServiceCodeLabels, DURATION_BOUNDARIES, HTTP, OWN, present } from './attributes.js';
import { attempt, listen } from './subscription.js';

/** Records spans and metrics for the client's calls. */
export function watchCalls(tracer: Tracer, meter: Meter): () => void {
  const spans = new WeakMap<CallTrace, Span>();
  const record = createCallRecorder(meter);
  const stops = [
    listen<CallTrace>('merchant-payments:call', {
      start(call) {
        const parent = context.active();
        const span = tracer.startSpan(
          nameOf(call),
          { kind: SpanKind.CLIENT, attributes: describeCall(call) },
          parent,
        );
        spans.set(call, span);
        runWithin(call, (work) => context.with(traces.setSpan(parent, span), work));
      },
      end(call) {
        attempt(() => endSpan(spans.get(call), call));
        record.call(call);
      },
    }),
    listen<RequestTrace>('merchant-payments:request', {
      end(request) {
        attempt(() => addEvent(spans.get(request.call), request));
        record.request(request);
      },
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

// A path passed to `request` may contain identifiers, which a span name must not.
function nameOf({ operation, method, path }: CallTrace): string {
  return operation === 'request' ? method : `${method} ${path}`;
}

function describeCall(call: CallTrace): Attributes {
  const { operation, method, url, serverAddress, serverPort } = call;
  const attributes: Attributes = {
    [HTTP.method]: method,
    [HTTP.url]: url,
    [HTTP.serverAddress]: serverAddress,
    [HTTP.serverPort]: serverPort,
    [OWN.operation]: operation,
  };
  for (const [name, value] of Object.entries(call.context ?? {})) {
    attributes[`${OWN.context}.${name}`] = value;
  }
  return present(attributes);
}

function endSpan(span: Span | undefined, call: CallTrace): void {
  const { attempts, status, requestId, outcome, code, serviceCode } = call;
  const attributes = present({
    [HTTP.resendCount]: attempts > 1 ? attempts - 1 : undefined,
    [HTTP.statusCode]: status,
    [HTTP.errorType]: errorTypeOf(call),
    [OWN.outcome]: outcome,
    [OWN.code]: code,
    [OWN.serviceCode]: serviceCode,
    [OWN.requestId]: requestId,
  });
  span?.setAttributes(attributes);
  const message = serviceCode ?? code;
  if (message !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message });
  span?.end();
}

/** Returns the status of an error response, otherwise the code of the error. */
function errorTypeOf({ status, code }: CallTrace): string | undefined {
  if (code === undefined) return undefined;
  return status === undefined || (status >= 200 && status < 300) ? code : String(status);
}

function addEvent(span: Span | undefined, request: RequestTrace): void {
  const { attempt: number, status, outcome, requestId } = request;
  const attributes = present({
    [OWN.attempt]: number,
    [HTTP.statusCode]: status,
    [OWN.outcome]: outcome,
    [OWN.requestId]: requestId,
  });
  span?.addEvent('merchant_payments.request', attributes);
}

function createCallRecorder(meter: Meter) {
  const toLabel = createServiceCodeLabels();
  const seconds = { unit: 's', advice: { explicitBucketBoundaries: DURATION_BOUNDARIES } };
  const count = meter.createCounter('merchant_payments.calls', {
    description: 'Finished calls to the service',
    unit: '{call}',
  });
  const callDuration = meter.createHistogram('merchant_payments.call.duration', {
    ...seconds,
    description: 'Duration of calls to the service, including retries',
  });
  const requestDuration = meter.createHistogram('merchant_payments.request.duration', {
    ...seconds,
    description: 'Duration of single requests to the service',
  });
  return {
    call({
      operation,
      serverAddress,
      outcome,
      code,
      serviceCode,
      durationMs = 0,
    }: CallTrace): void {
      const labels = present({
        [OWN.operation]: operation,
        [HTTP.serverAddress]: serverAddress,
        [OWN.outcome]: outcome,
        [OWN.code]: code,
        [OWN.serviceCode]: toLabel(serviceCode),
      });
      attempt(() => count.add(1, labels));
      attempt(() => callDuration.record(durationMs / 1_000, labels));
    },
    request({ method, serverAddress, status, outcome, durationMs = 0 }: RequestTrace): void {
      const labels = present({
        [HTTP.method]: method,
        [HTTP.serverAddress]: serverAddress,
        [HTTP.statusCode]: status,
        [OWN.outcome]: outcome,
      });
      requestDuration.record(durationMs / 1_000, labels);
    },
  };
}
