import { context, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { callbackKey } from '../../src/callback/verify.js';
import { RetryLaterError } from '../../src/errors.js';
import { memoryStore } from '../../src/store/memory.js';
import { NOW_SECONDS, OTHER_SECRET, sampleRecord } from '../callback/sample-callback.js';
import { createClient, httpAnswer, order, startRawServer } from '../client/raw-server.js';
import { createScene, post } from '../receiver/scene.js';
import { startTelemetry } from './telemetry.js';

const key = callbackKey(sampleRecord());
const refused = () => post({}, { secret: OTHER_SECRET });

describe('the span of a callback', () => {
  it('is a SERVER span where there is no other, and active while onPayment runs', async () => {
    const { spans } = startTelemetry();
    const active: (string | undefined)[] = [];
    const scene = createScene({
      onPayment: () => void active.push(trace.getActiveSpan()?.spanContext().spanId),
    });
    await scene.receive(post());
    const [span] = spans();
    expect(span).toMatchObject({
      name: 'payment callback',
      kind: SpanKind.SERVER,
      parentSpanContext: undefined,
      status: { code: SpanStatusCode.UNSET },
    });
    expect(span?.attributes).toStrictEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'merchant_payments.outcome': 'processed',
      'merchant_payments.callback.key': key,
    });
    expect(active).toStrictEqual([span?.spanContext().spanId]);
  });

  it('is below the span of the HTTP server if there is one', async () => {
    const { tracer, spans } = startTelemetry();
    const parent = tracer.startSpan('POST /callbacks', { kind: SpanKind.SERVER });
    await context.with(trace.setSpan(context.active(), parent), () =>
      createScene().receive(post()),
    );
    const { spanId } = parent.spanContext();
    expect(spans()[0]).toMatchObject({ kind: SpanKind.INTERNAL, parentSpanContext: { spanId } });
  });

  it('is a SERVER span below a span of another process', async () => {
    const { spans } = startTelemetry();
    const spanContext = {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      traceFlags: TraceFlags.SAMPLED,
      isRemote: true,
    };
    await context.with(trace.setSpanContext(context.active(), spanContext), () =>
      createScene().receive(post()),
    );
    expect(spans()[0]).toMatchObject({ kind: SpanKind.SERVER, parentSpanContext: spanContext });
  });

  it('shows why a callback was refused, which is no error of the server', async () => {
    const { spans } = startTelemetry();
    const scene = createScene();
    await scene.receive(refused());
    await scene.receive(post({}, { timestamp: String(NOW_SECONDS - 301) }));
    await scene.receive({ ...post(), method: 'BREW' });
    expect(spans().map(({ status }) => status.code)).toStrictEqual(
      Array(3).fill(SpanStatusCode.UNSET),
    );
    const common = { 'merchant_payments.outcome': 'rejected' };
    expect(spans().map(({ attributes }) => attributes)).toStrictEqual([
      {
        ...common,
        'http.request.method': 'POST',
        'http.response.status_code': 401,
        'merchant_payments.code': 'SIGNATURE_MISMATCH',
      },
      {
        ...common,
        'http.request.method': 'POST',
        'http.response.status_code': 401,
        'merchant_payments.code': 'TIMESTAMP_OUTSIDE_WINDOW',
        'merchant_payments.callback.skew_seconds': 301,
      },
      { ...common, 'http.request.method': '_OTHER', 'http.response.status_code': 405 },
    ]);
  });

  it('is an error when the callback failed, parked or not, and for every 5xx', async () => {
    const { spans } = startTelemetry();
    const failing = () => Promise.reject(new Error('locked'));
    await createScene({ onPayment: failing }).receive(post());
    const later = () => Promise.reject(new RetryLaterError('not stored'));
    await createScene({ onPayment: later }).receive(post());
    const store = memoryStore();
    await createScene({ onPayment: failing, store, parkAfter: 1 }).receive(post());
    await createScene({ onPayment: failing, store, parkAfter: 1 }).receive(post());
    expect(
      spans().map(({ attributes, status }) => [attributes['error.type'], status]),
    ).toStrictEqual([
      ['500', { code: SpanStatusCode.ERROR }],
      ['RETRY_LATER', { code: SpanStatusCode.ERROR, message: 'RETRY_LATER' }],
      ['CHANGE_PARKED', { code: SpanStatusCode.ERROR, message: 'CHANGE_PARKED' }],
      ['CHANGE_PARKED', { code: SpanStatusCode.ERROR, message: 'CHANGE_PARKED' }],
    ]);
  });
});

describe('the metrics of callbacks', () => {
  it('show which of those that wait are overdue', async () => {
    const { spans, metrics } = startTelemetry();
    const scene = createScene({ onPayment: () => Promise.reject(new RetryLaterError()) });
    await scene.receive(post());
    await scene.receive(post({ updatedAt: '2026-01-31T11:00:00Z' }));
    for (const recorded of [(await metrics())['merchant_payments.callbacks'], spans()]) {
      const overdue = recorded?.map(({ attributes }) => attributes['merchant_payments.overdue']);
      expect(overdue).toEqual([undefined, true]);
    }
  });

  it('count them by status, outcome and code, without references', async () => {
    const { metrics } = startTelemetry();
    const scene = createScene();
    await scene.receive(post());
    await scene.receive(post());
    await scene.receive(refused());
    const {
      'merchant_payments.callbacks': callbacks = [],
      'merchant_payments.callback.duration': durations = [],
    } = await metrics();
    const labels = [
      { 'http.response.status_code': 200, 'merchant_payments.outcome': 'processed' },
      { 'http.response.status_code': 200, 'merchant_payments.outcome': 'duplicate' },
      {
        'http.response.status_code': 401,
        'merchant_payments.outcome': 'rejected',
        'merchant_payments.code': 'SIGNATURE_MISMATCH',
      },
    ];
    expect(callbacks.map(({ attributes, value }) => [attributes, value])).toStrictEqual(
      labels.map((attributes) => [attributes, 1]),
    );
    expect(durations).toMatchObject(
      labels.map((attributes) => ({ attributes, value: { count: 1 } })),
    );
  });

  it('have no label that the service chooses', async () => {
    const { metrics } = startTelemetry();
    const answers = ['CODE_1', 'CODE_2'].map((code) => httpAnswer(422, { code }));
    const server = await startRawServer({ answer: (_request, index) => answers[index] });
    const client = createClient(server.url);
    const scene = createScene({ onPayment: () => client.payments.create(order) });
    for (const _ of answers) await scene.receive(post());
    const points = (await metrics())['merchant_payments.callbacks'] ?? [];
    expect(points).toMatchObject([
      { attributes: { 'merchant_payments.code': 'API_ERROR' }, value: 2 },
    ]);
  });

  it('are not recorded after disable()', async () => {
    const { metrics, spans, disable } = startTelemetry();
    disable();
    disable();
    await createScene().receive(post());
    expect(await metrics()).toStrictEqual({});
    expect(spans()).toStrictEqual([]);
  });
});
