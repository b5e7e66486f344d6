import {
  type Attributes,
  type Meter,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import type { CallTrace, RequestTrace } from '../client/observation.js';
import { createServiceCodeLabels, DURATION_BOUNDARIES, HTTP, OWN, present } from './attributes.js';
import { attempt, listen, startSpan } from './subscription.js';

/** Records spans and metrics for the client's calls. */
export function watchCalls(tracer: Tracer, meter: Meter): () => void {
  const spans = new WeakMap<CallTrace, Span>();
  const record = createCallRecorder(meter);
  const stops = [
    listen<CallTrace>('merchant-payments:call', {
      start(call) {
        const options = { kind: SpanKind.CLIENT, attributes: describeCall(call) };
        spans.set(call, startSpan(tracer, call, nameOf(call), options));
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
  return () => stops.forEach((stop) => void stop());
}

// A path passed to `request` may contain identifiers, which a span name must not.
function nameOf({ operation, method, path }: CallTrace): string {
  return operation === 'request' ? method : `${method} ${path}`;
}

function describeCall(call: CallTrace): Attributes {
  const given = Object.entries(call.context ?? {});
  return {
    [HTTP.method]: call.method,
    [HTTP.url]: call.url,
    [HTTP.serverAddress]: call.serverAddress,
    [HTTP.serverPort]: call.serverPort,
    [OWN.operation]: call.operation,
    ...Object.fromEntries(given.map(([name, value]) => [`${OWN.context}.${name}`, value])),
  };
}

function endSpan(span: Span | undefined, call: CallTrace): void {
  const { attempts, status, requestId, outcome, code, serviceCode } = call;
  // The status of an error response, otherwise the code of the error.
  const isAnswered = status !== undefined && (status < 200 || status >= 300);
  const attributes = present({
    [HTTP.resendCount]: attempts > 1 ? attempts - 1 : undefined,
    [HTTP.statusCode]: status,
    [HTTP.errorType]: code !== undefined && isAnswered ? String(status) : code,
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
    call(call: CallTrace): void {
      const labels = present({
        [OWN.operation]: call.operation,
        [HTTP.serverAddress]: call.serverAddress,
        [OWN.outcome]: call.outcome,
        [OWN.code]: call.code,
        [OWN.serviceCode]: toLabel(call.serviceCode),
      });
      attempt(() => count.add(1, labels));
      attempt(() => callDuration.record(Number(call.durationMs) / 1_000, labels));
    },
    request(request: RequestTrace): void {
      const labels = present({
        [HTTP.method]: request.method,
        [HTTP.serverAddress]: request.serverAddress,
        [HTTP.statusCode]: request.status,
        [OWN.outcome]: request.outcome,
      });
      requestDuration.record(Number(request.durationMs) / 1_000, labels);
    },
  };
}
