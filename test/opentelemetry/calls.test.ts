import diagnostics from 'node:diagnostics_channel';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Histogram } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { schemaOf } from '../callback/contract/record-schema.js';
import {
  createClient,
  created,
  failureOf,
  httpAnswer,
  order,
  refusedPort,
  startRawServer,
} from '../client/raw-server.js';
import { startTelemetry } from './telemetry.js';

// The jitter is not mocked away: span identifiers come from Math.random too.
const tooMany = httpAnswer(429, '', { 'retry-after': '0' });

const requestId = '0e5f1a52-8f4c-4f0a-9a43-2f1d0c9b7e11';

describe('the span of a call', () => {
  it('covers three requests, below the span of its caller', async () => {
    const { tracer, spans } = startTelemetry();
    const answers = [tooMany, tooMany, httpAnswer(201, { requestId })];
    const server = await startRawServer({ answer: (_request, index) => answers[index] });
    const client = createClient(`${server.url}/v2`);
    const parent = tracer.startSpan('checkout');
    await context.with(trace.setSpan(context.active(), parent), () =>
      client.payments.create(order),
    );
    expect(spans()).toHaveLength(1);
    const [span] = spans();
    expect(span).toMatchObject({
      name: 'POST /v2/api/payments',
      kind: SpanKind.CLIENT,
      parentSpanContext: { spanId: parent.spanContext().spanId },
      status: { code: SpanStatusCode.UNSET },
      instrumentationScope: { schemaUrl: 'https://opentelemetry.io/schemas/1.45.0' },
    });
    expect(span?.spanContext().traceId).toBe(parent.spanContext().traceId);
    expect(span?.attributes).toStrictEqual({
      'http.request.method': 'POST',
      'http.request.resend_count': 2,
      'http.response.status_code': 201,
      'server.address': '127.0.0.1',
      'server.port': server.port,
      'url.full': `${server.url}/v2/api/payments`,
      'merchant_payments.operation': 'payments.create',
      'merchant_payments.outcome': 'accepted',
      'merchant_payments.request_id': requestId,
    });
    expect(span?.events.map(({ name, attributes }) => [name, attributes])).toStrictEqual(
      [429, 429, 201].map((status, index) => [
        'merchant_payments.request',
        {
          'merchant_payments.attempt': index + 1,
          'http.response.status_code': status,
          'merchant_payments.outcome': status === 201 ? 'accepted' : 'rejected',
          ...(status === 201 && { 'merchant_payments.request_id': requestId }),
        },
      ]),
    );
  });

  it('is separate for each of many calls in flight, and the parent of their requests', async () => {
    const { tracer, spans } = startTelemetry();
    const activeAtRequests: (string | undefined)[] = [];
    const noteActive = () => activeAtRequests.push(trace.getActiveSpan()?.spanContext().spanId);
    diagnostics.subscribe('undici:request:create', noteActive);
    onTestFinished(() => void diagnostics.unsubscribe('undici:request:create', noteActive));
    // Nothing is answered before all are in flight.
    const calls = 20;
    const held: (() => void)[] = [];
    const server = await startRawServer({
      answer({ socket }, index) {
        if (index >= calls) return created;
        held.push(() => socket.write(tooMany));
        if (held.length === calls) for (const answer of held) answer();
        return undefined;
      },
    });
    const client = createClient(server.url);
    const parents = await Promise.all(
      Array.from({ length: calls }, async (_, index) => {
        const merchantPaymentReference = `order-${index}`;
        const parent = tracer.startSpan(merchantPaymentReference);
        const input = { ...order, merchantPaymentReference };
        await context.with(trace.setSpan(context.active(), parent), () =>
          client.payments.create(input, { logContext: { order: merchantPaymentReference } }),
        );
        return [merchantPaymentReference, parent.spanContext().spanId];
      }),
    );
    const found = spans().map(({ attributes, parentSpanContext }) => [
      attributes['merchant_payments.context.order'],
      parentSpanContext?.spanId,
    ]);
    expect(found.sort()).toEqual(parents.sort());
    // Two requests of each.
    const ids = spans().map((span) => span.spanContext().spanId);
    expect(activeAtRequests.sort()).toEqual([...ids, ...ids].sort());
  });

  it('is named only by its method when the path is the caller’s', async () => {
    const { spans } = startTelemetry();
    const server = await startRawServer({ answer: () => created });
    await createClient(server.url).request({ method: 'GET', path: '/payments/7?of=hunter2' });
    expect(spans()[0]).toMatchObject({ name: 'GET' });
    expect(spans()[0]?.attributes).toMatchObject({ 'url.full': `${server.url}/payments/7` });
    expect(spans()[0]?.attributes).not.toHaveProperty(['http.request.resend_count']);
  });

  const responseSchema = schemaOf(() => ({ issues: [{ message: 'no' }] }));
  it.each<[string, string | undefined, object]>([
    [
      'of an error response, and its status as error.type',
      httpAnswer(422, { code: 'NO_SHOP' }),
      {
        'http.response.status_code': 422,
        'error.type': '422',
        'merchant_payments.code': 'API_ERROR',
        'merchant_payments.service_code': 'NO_SHOP',
        'merchant_payments.outcome': 'rejected',
      },
    ],
    [
      'as error.type when there was no answer',
      undefined,
      { 'error.type': 'CONNECTION_FAILED', 'merchant_payments.outcome': 'not-sent' },
    ],
    [
      'as error.type when a 2xx can’t be used',
      created,
      {
        'http.response.status_code': 201,
        'error.type': 'RESPONSE_UNUSABLE',
        'merchant_payments.outcome': 'accepted',
      },
    ],
  ])('has the code %s', async (_what, answer, attributes) => {
    const { spans } = startTelemetry();
    const { url } = answer
      ? await startRawServer({ answer: () => answer })
      : { url: `http://127.0.0.1:${await refusedPort()}` };
    const client = createClient(url, { maxRetries: 0 });
    await failureOf(client.payments.create(order, { responseSchema }));
    const [span] = spans();
    expect(span?.attributes).toMatchObject(attributes);
    expect('http.response.status_code' in (span?.attributes ?? {})).toBe(answer !== undefined);
    expect(span?.status).toMatchObject({ code: SpanStatusCode.ERROR });
  });

  it('has the caller’s own fields, and no reference of the merchant’s', async () => {
    const { spans } = startTelemetry();
    const server = await startRawServer({ answer: () => httpAnswer(503) });
    const logContext = { tenant: 'shop-7', job: 12 };
    await failureOf(createClient(server.url).payments.create(order, { logContext }));
    expect(spans()[0]?.attributes).toMatchObject({
      'merchant_payments.context.tenant': 'shop-7',
      'merchant_payments.context.job': 12,
    });
    const { attributes, events } = spans()[0] as ReadableSpan;
    expect(JSON.stringify({ attributes, events })).not.toContain(order.merchantPaymentReference);
  });
});

describe('the metrics of calls', () => {
  it('count them and their requests by outcome and code, without references', async () => {
    const { metrics } = startTelemetry();
    const answers = [created, tooMany, created, httpAnswer(422, { code: 'NO_SHOP' })];
    const server = await startRawServer({ answer: (_request, index) => answers[index] });
    const client = createClient(server.url);
    const logContext = { tenant: 'shop-7' };
    await client.payments.create(order, { logContext });
    await client.payments.create(order, { logContext });
    await failureOf(client.payments.create(order, { logContext }));
    const {
      'merchant_payments.calls': calls = [],
      'merchant_payments.call.duration': durations = [],
      'merchant_payments.request.duration': requests = [],
    } = await metrics();
    const common = {
      'merchant_payments.operation': 'payments.create',
      'server.address': '127.0.0.1',
    };
    const accepted = { ...common, 'merchant_payments.outcome': 'accepted' };
    const refused = {
      ...common,
      'merchant_payments.outcome': 'rejected',
      'merchant_payments.code': 'API_ERROR',
      'merchant_payments.service_code': 'NO_SHOP',
    };
    expect(calls.map(({ attributes, value }) => [attributes, value])).toStrictEqual([
      [accepted, 2],
      [refused, 1],
    ]);
    expect(durations).toMatchObject([
      { attributes: accepted, value: { count: 2, sum: expect.any(Number) } },
      { attributes: refused, value: { count: 1 } },
    ]);
    const ofRequests = { 'http.request.method': 'POST', 'server.address': '127.0.0.1' };
    const count = (status: number, outcome: string, times: number) => ({
      attributes: {
        ...ofRequests,
        'http.response.status_code': status,
        'merchant_payments.outcome': outcome,
      },
      value: { count: times },
    });
    expect(requests).toMatchObject([
      count(201, 'accepted', 2),
      count(429, 'rejected', 1),
      count(422, 'rejected', 1),
    ]);
    expect(Object.keys(calls[0]?.attributes ?? {})).toHaveLength(3);
    expect(JSON.stringify(await metrics())).not.toMatch(/order-1001|shop-7/);
  });

  it('are in seconds', async () => {
    const { metrics } = startTelemetry();
    const server = await startRawServer({ answer: () => created });
    const startedAtMs = performance.now();
    await createClient(server.url).payments.create(order);
    const tookSeconds = (performance.now() - startedAtMs) / 1_000;
    const { 'merchant_payments.call.duration': points = [] } = await metrics();
    const sums = points.map(({ value }) => (value as Histogram).sum);
    expect(sums).toHaveLength(1);
    expect(sums[0]).toBeGreaterThan(0);
    // Durations are exact to the microsecond.
    expect(sums[0]).toBeLessThanOrEqual(tookSeconds + 0.000_001);
  });

  it('have a label for a hundred codes of the service, and one for the rest', async () => {
    const { metrics } = startTelemetry();
    const codes = Array.from({ length: 150 }, (_, index) => `CODE_${index}`);
    const server = await startRawServer({
      answer: (_request, index) => httpAnswer(422, { code: codes[index] }),
    });
    const client = createClient(server.url);
    for (const _ of codes) await failureOf(client.payments.create(order));
    const points = (await metrics())['merchant_payments.calls'] ?? [];
    expect(points).toHaveLength(101);
    expect(points.at(-1)).toMatchObject({
      attributes: {
        'merchant_payments.code': 'API_ERROR',
        'merchant_payments.service_code': '_OTHER',
      },
      value: 50,
    });
  });
});
