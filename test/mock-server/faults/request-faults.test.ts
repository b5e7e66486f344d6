import { describe, expect, test } from 'vitest';
import {
  createManualClock,
  createMockService,
  type RequestFault,
  startMockServer,
} from '../../../src/mock-server/index.js';
import { creation, exchange, order, postPayment, rawCreation } from '../merchant-client.js';
import { createObservedClock } from '../observed-clock.js';

const RECORD_PATTERN = /^\{"referenceNumber":"[0-9a-f-]{36}"/;

describe('a fault that refuses', () => {
  test.each<[string, RequestFault, number, Record<string, unknown>]>([
    [
      'unauthorized is a 401, although the credentials are right',
      { on: 'request', type: 'unauthorized' },
      401,
      { code: 'INVALID_CREDENTIALS', message: 'Invalid credentials.' },
    ],
    ['rate-limit is a 429', { on: 'request', type: 'rate-limit' }, 429, { code: 'RATE_LIMITED' }],
    ['client-error is a 409', { on: 'request', type: 'client-error' }, 409, { code: 'REFUSED' }],
    [
      'server-error is a 500',
      { on: 'request', type: 'server-error' },
      500,
      { code: 'SERVER_ERROR' },
    ],
    [
      'server-error has the status that was chosen',
      { on: 'request', type: 'server-error', status: 503 },
      503,
      { code: 'SERVER_ERROR' },
    ],
  ])('%s, with an error body and no payment', async (_, fault, status, body) => {
    await using server = await startMockServer();
    server.faults.add(fault);
    const answer = await postPayment(server);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({
      message: expect.any(String),
      requestId: server.requests[0]?.requestId,
      ...body,
    });
    expect(server.payments.list()).toEqual([]);
    expect(server.requests[0]).toMatchObject({ status, fault: fault.type, authenticated: true });
    expect(server.faults.pending()).toEqual([]);
  });

  test('client-error has the chosen status and fields', async () => {
    await using server = await startMockServer();
    const body = { code: 'DUPLICATE', issues: [{ path: ['amount'] }] };
    server.faults.add({ on: 'request', type: 'client-error', status: 422, body });
    server.faults.add({ on: 'request', type: 'client-error', body: { requestId: 'mine' } });
    body.code = 'CHANGED_LATER';
    const answer = await postPayment(server);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      code: 'DUPLICATE',
      issues: [{ path: ['amount'] }],
      requestId: server.requests[0]?.requestId,
    });
    expect(await (await postPayment(server)).json()).toEqual({ requestId: 'mine' });
    expect(server.payments.list()).toEqual([]);
  });

  test.each([
    ['<h1>Forbidden</h1>', 'text/plain; charset=utf-8', '<h1>Forbidden</h1>'],
    [[1], 'application/json', '[1]'],
  ])('client-error sends the body %j as it is', async (body, type, text) => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'client-error', body });
    const answer = await postPayment(server);
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([type, text]);
  });

  test('rate-limit sends a Retry-After', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'rate-limit', retryAfterSeconds: 17 });
    server.faults.add({ on: 'request', type: 'rate-limit' });
    expect((await postPayment(server)).headers.get('retry-after')).toBe('17');
    expect((await postPayment(server)).headers.get('retry-after')).toBe('1');
  });

  test.each([200, 202, 502])(
    'html-error with status %i is a page, and creates no payment',
    async (status) => {
      await using server = await startMockServer();
      server.faults.add({ on: 'request', type: 'html-error', status });
      const answer = await postPayment(server);
      expect(answer.status).toBe(status);
      expect(await answer.text()).toMatch(/^<!doctype html>/);
      expect(server.payments.list()).toEqual([]);
    },
  );

  test.each([204, 205, 304])('html-error with status %i has no body', async (status) => {
    const service = createMockService();
    service.faults.add({ on: 'request', type: 'html-error', status });
    const answer = await service.fetch(new Request('http://mock.example/api/payments'));
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe('');
  });
});

describe('a fault that damages the answer leaves the payment created', () => {
  test('malformed-json: 201 with JSON that does not parse', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'malformed-json' });
    const answer = await postPayment(server);
    const text = await answer.text();
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(text).toMatch(RECORD_PATTERN);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(server.payments.list()).toHaveLength(1);
  });

  test('empty-body: 201 and nothing', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'empty-body' });
    const answer = await postPayment(server);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-length')).toBe('0');
    expect(await answer.text()).toBe('');
    expect(server.payments.list()).toHaveLength(1);
  });

  // On the wire the two differ in how the connection ends.
  test.each([
    ['truncated-body', 'end'],
    ['reset-in-body', 'ECONNRESET'],
  ] as const)('%s: half of the body, then the connection ends by %s', async (type, closedBy) => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type, times: 20 });
    for (let count = 1; count <= 20; count += 1) {
      const answer = await exchange(server.url, rawCreation(server));
      const [head = '', body = ''] = answer.text.split('\r\n\r\n');
      const announced = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      expect(head).toMatch(/^HTTP\/1.1 201 /);
      expect(body).toMatch(RECORD_PATTERN);
      expect(body.length).toBe(Math.ceil(announced / 2));
      expect(answer.closedBy).toBe(closedBy);
      expect(server.payments.list()).toHaveLength(count);
    }
    expect(server.requests[0]).toMatchObject({ status: 201, fault: type });
  });

  test('lost-answer: the connection is reset before a byte of the answer', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'lost-answer' });
    expect(await exchange(server.url, rawCreation(server))).toEqual({
      text: '',
      closedBy: 'ECONNRESET',
    });
    expect(server.payments.list()).toHaveLength(1);
    expect(server.requests[0]).not.toHaveProperty('status');
  });
});

test('reset-before-headers looks like lost-answer, but creates nothing', async () => {
  await using server = await startMockServer();
  server.faults.add({ on: 'request', type: 'reset-before-headers' });
  expect(await exchange(server.url, rawCreation(server))).toEqual({
    text: '',
    closedBy: 'ECONNRESET',
  });
  expect(server.payments.list()).toEqual([]);
});

describe('late-answer', () => {
  test('creates the payment at once, and answers after its delay on the clock', async () => {
    const clock = createManualClock();
    const service = createMockService({ clock });
    service.faults.add({ on: 'request', type: 'late-answer', delayMs: 60_000 });
    const answer = service.fetch(creation());
    await service.waitForRequest({});
    const [payment] = service.payments.list();
    await service.setStatus(payment?.referenceNumber ?? '', 'paid');
    await clock.advance(59_999);
    expect(service.requests[0]).toMatchObject({ ended: false });
    await clock.advance(1);
    // As it was at its creation.
    expect(await (await answer).json()).toMatchObject({
      referenceNumber: payment?.referenceNumber,
      status: 'pending',
    });
  });

  test('creates the payment even if the client disconnects', async () => {
    const service = createMockService();
    service.faults.add({ on: 'request', type: 'late-answer', delayMs: 60_000 });
    const left = new AbortController();
    const answer = service.fetch(creation(order, { signal: left.signal }));
    await service.waitForRequest({});
    left.abort();
    await expect(answer).rejects.toThrow(TypeError);
    expect(service.payments.list()).toHaveLength(1);
  });
});

describe('delay', () => {
  test('holds the request until its delay is over on the clock', async () => {
    const clock = createManualClock();
    await using server = await startMockServer({ clock });
    server.faults.add({ on: 'request', type: 'delay', delayMs: 60_000 });
    const answer = postPayment(server);
    await server.waitForRequest({});
    await clock.advance(59_999);
    expect(server.payments.list()).toEqual([]);
    expect(server.requests[0]?.status).toBeUndefined();
    await clock.advance(1);
    expect((await answer).status).toBe(201);
    expect(server.payments.list()).toHaveLength(1);
  });

  test('creates nothing if the client disconnects before', async () => {
    const clock = createManualClock();
    const service = createMockService({ clock });
    service.faults.add({ on: 'request', type: 'delay', delayMs: 1_000 });
    const left = new AbortController();
    const answer = service.fetch(creation(order, { signal: left.signal }));
    await service.waitForRequest({});
    left.abort();
    await expect(answer).rejects.toMatchObject({ name: 'TypeError', how: 'reset' });
    await clock.advance(2_000);
    expect(service.payments.list()).toEqual([]);
  });
});

test('a client that disconnects ends its request over HTTP', async () => {
  const { clock, cancelled } = createObservedClock();
  await using server = await startMockServer({ clock });
  server.faults.add({ on: 'request', type: 'delay', delayMs: 1_000 });
  const left = new AbortController();
  const answer = expect(postPayment(server, order, { signal: left.signal })).rejects.toThrow();
  await server.waitForRequest({});
  left.abort();
  await answer;
  await cancelled;
  await clock.advance(1_000);
  expect(server.payments.list()).toEqual([]);
});

describe('hang', () => {
  test('keeps the connection open without an answer until the client disconnects', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'hang' });
    const left = new AbortController();
    const answer = postPayment(server, order, { signal: left.signal });
    await server.waitForRequest({});
    left.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.payments.list()).toEqual([]);
    expect((await postPayment(server)).status).toBe(201);
  });

  test('ends when the service is reset', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'hang' });
    const wire = exchange(server.url, rawCreation(server));
    await server.waitForRequest({});
    server.reset();
    expect(await wire).toEqual({ text: '', closedBy: 'ECONNRESET' });
  });
});

test('a request of a client that has left already is not held', async () => {
  const service = createMockService();
  service.faults.add({ on: 'request', type: 'hang' });
  const left = creation(order, { signal: AbortSignal.abort() });
  await expect(service.fetch(left)).rejects.toMatchObject({ name: 'TypeError' });
});

describe('a fault applies to', () => {
  test('no callback', async () => {
    const service = createMockService();
    service.faults.add({ on: 'callback', type: 'drop' });
    expect((await service.fetch(creation())).status).toBe(201);
    expect(service.faults.pending()).toHaveLength(1);
  });

  test('requests selected by merchantPaymentReference, method and path', async () => {
    const service = createMockService();
    const match = { merchantPaymentReference: 'order-1', method: 'POST', path: '/api/payments' };
    for (const [field, other] of [
      ['merchantPaymentReference', 'order-2'],
      ['method', 'PUT'],
      ['path', '/elsewhere'],
    ] as const) {
      service.faults.add({
        on: 'request',
        type: 'server-error',
        match: { ...match, [field]: other },
      });
    }
    service.faults.add({ on: 'request', type: 'rate-limit', match });
    expect((await service.fetch(creation())).status).toBe(429);
    expect((await service.fetch(creation())).status).toBe(201);
    expect(service.faults.pending()).toHaveLength(3);
  });
});

test('without a network, a broken connection rejects the fetch, and a broken body errors while it is read', async () => {
  const service = createMockService();
  service.faults.add({ on: 'request', type: 'lost-answer' });
  await expect(service.fetch(creation())).rejects.toMatchObject({ how: 'reset' });
  for (const [type, how] of [
    ['truncated-body', 'end'],
    ['reset-in-body', 'reset'],
  ] as const) {
    service.faults.add({ on: 'request', type });
    const answer = await service.fetch(creation());
    const reader = answer.body?.getReader();
    expect((await reader?.read())?.value?.byteLength).toBeGreaterThan(100);
    await expect(reader?.read()).rejects.toMatchObject({ name: 'TypeError', how });
  }
});
