import { describe, expect, test } from 'vitest';
import {
  createManualClock,
  createMockService,
  type MockPayment,
} from '../../../src/mock-server/index.js';
import { toStatusRecord } from '../../../src/mock-server/state/payments.js';
import { basic, order } from '../merchant-client.js';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const authorization = basic('key', 'secret');

function createService(options = {}) {
  return createMockService({ apiKey: 'key', apiSecret: 'secret', seed: 1, ...options });
}

function creation(
  body: string | Uint8Array = JSON.stringify(order),
  headers: Record<string, string> = {},
): Request {
  return new Request('http://mock.test/api/payments', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body,
  });
}

async function fieldsOf(answer: Response): Promise<Record<string, unknown>> {
  return (await answer.json()) as Record<string, unknown>;
}

describe('creating a payment', () => {
  test('is answered with 201 and the status record', async () => {
    const clock = createManualClock({ now: Date.UTC(2026, 0, 31, 12) });
    const service = createService({ clock });
    const answer = await service.fetch(creation());
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await fieldsOf(answer)).toEqual({
      referenceNumber: expect.stringMatching(UUID_V4),
      merchantPaymentReference: 'order-1',
      providerReference: expect.stringMatching(UUID_V4),
      status: 'pending',
      createdAt: '2026-01-31T12:00:00.000+00:00',
      updatedAt: '2026-01-31T12:00:00.000+00:00',
    });
  });

  test('keeps the amount, the currency and fields the interface does not show', async () => {
    const service = createService();
    await service.fetch(creation(JSON.stringify({ ...order, customer: { id: 7 }, note: 'x' })));
    expect(service.payments.list()).toEqual([
      expect.objectContaining({
        amount: 1000,
        currency: 'EUR',
        extra: { customer: { id: 7 }, note: 'x' },
      }),
    ]);
  });

  test('accepts a content type with parameters, in any case', async () => {
    const answer = await createService().fetch(
      creation(undefined, { 'content-type': 'Application/JSON; charset=utf-8' }),
    );
    expect(answer.status).toBe(201);
  });

  test('ignores a query', async () => {
    const service = createService();
    const answer = await service.fetch(
      new Request('http://mock.test/api/payments?trace=1', creation()),
    );
    expect(answer.status).toBe(201);
    expect(service.requests[0]?.path).toBe('/api/payments?trace=1');
  });
});

describe('credentials', () => {
  const encode = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  test.each([
    ['no header', undefined],
    ['a wrong key', basic('other', 'secret')],
    ['a wrong secret', basic('key', 'other')],
    ['an empty secret', encode('key:')],
    ['an empty key', encode(':secret')],
    ['another scheme', `Bearer ${btoa('key:secret')}`],
  ])('are refused with 401: %s', async (_, header) => {
    const service = createService();
    const request = creation();
    request.headers.delete('authorization');
    if (header !== undefined) request.headers.set('authorization', header);
    const answer = await service.fetch(request);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    expect(await fieldsOf(answer)).toEqual({
      code: 'INVALID_CREDENTIALS',
      message: 'Invalid credentials.',
      requestId: expect.stringMatching(UUID_V4),
    });
    expect(service.payments.list()).toEqual([]);
    expect(service.requests[0]?.authenticated).toBe(false);
  });

  test('may hold a colon in the secret, and characters beyond ASCII', async () => {
    const service = createService({ apiSecret: 'a:b:é' });
    const answer = await service.fetch(
      creation(undefined, { authorization: basic('key', 'a:b:é') }),
    );
    expect(answer.status).toBe(201);
  });

  test('may be any that are well formed when the service was given none', async () => {
    const service = createMockService();
    expect(service.apiKey).toBeUndefined();
    expect(service.apiSecret).toBeUndefined();
    const send = (header: string) => service.fetch(creation(undefined, { authorization: header }));
    expect((await send(basic('anything', 'at all'))).status).toBe(201);
    expect((await send(encode('key:'))).status).toBe(401);
    expect((await send('Bearer abc')).status).toBe(401);
  });

  test('come before everything else: a stranger gets 401 at any path', async () => {
    const answer = await createService().fetch(new Request('http://mock.test/nothing/here'));
    expect(answer.status).toBe(401);
  });
});

describe('a request that is not in order', () => {
  const tooLong = JSON.stringify({ ...order, note: 'x'.repeat(1_048_576) });

  test.each([
    ['broken JSON', '{"amount":', 'The body must be JSON'],
    [
      'JSON that is nested too deeply',
      `{"x":${'['.repeat(500)}${']'.repeat(500)}}`,
      'The body must be JSON',
    ],
    ['a list', '[]', 'merchantPaymentReference'],
    ['no reference', JSON.stringify({ amount: 1, currency: 'EUR' }), 'merchantPaymentReference'],
    ['bytes that are not UTF-8', Buffer.from('7b2278223a22ff227d', 'hex'), 'UTF-8'],
  ])('gets 400 for %s', async (_, body, named) => {
    const service = createService();
    const answer = await service.fetch(creation(body));
    expect(answer.status).toBe(400);
    expect(await fieldsOf(answer)).toEqual({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(named),
      requestId: service.requests[0]?.requestId,
    });
    expect(service.payments.list()).toEqual([]);
  });

  test('gets 404 at another path', async () => {
    for (const path of ['/', '/api/payments/', '/api/payment', '/prefix/api/payments']) {
      const answer = await createService().fetch(
        new Request(`http://mock.test${path}`, creation()),
      );
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await fieldsOf(answer)).toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  test('gets 405 with Allow for another method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await createService().fetch(
        new Request('http://mock.test/api/payments', { method, headers: { authorization } }),
      );
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
  });

  test.each(['text/plain', 'application/jsonp'])(
    'gets 415 for the content type %s',
    async (contentType) => {
      const answer = await createService().fetch(
        creation(undefined, { 'content-type': contentType }),
      );
      expect(answer.status).toBe(415);
    },
  );

  test('gets 413 over 1 MiB, counted as the bytes arrive', async () => {
    const service = createService();
    let pulled = 0;
    let isCancelled = false;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel() {
        isCancelled = true;
      },
    });
    const request = new Request('http://mock.test/api/payments', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: endless,
      duplex: 'half',
    });
    const answer = await service.fetch(request);
    expect(answer.status).toBe(413);
    expect(await fieldsOf(answer)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(pulled).toBeLessThan(25);
    expect(isCancelled).toBe(true);
    expect(service.requests[0]).toMatchObject({ body: '', json: undefined, status: 413 });
  });

  test('is judged by the bytes: 1 MiB exactly is read', async () => {
    const service = createService();
    const padding = 'x'.repeat(1_048_576 - JSON.stringify({ ...order, note: '' }).length);
    const exact = JSON.stringify({ ...order, note: padding });
    expect(Buffer.byteLength(exact)).toBe(1_048_576);
    expect((await service.fetch(creation(exact))).status).toBe(201);
    expect((await service.fetch(creation(tooLong))).status).toBe(413);
  });
});

describe('the log of requests', () => {
  test('shows each request and its answer, without credentials', async () => {
    const clock = createManualClock({ now: 5_000 });
    const service = createService({ clock });
    await service.fetch(creation(undefined, { cookie: 'session=1', 'x-custom': 'yes' }));
    const [payment] = service.payments.list() as [MockPayment];
    expect(service.requests).toEqual([
      {
        requestId: expect.stringMatching(UUID_V4),
        at: new Date(5_000),
        method: 'POST',
        path: '/api/payments',
        headers: {
          authorization: '[redacted]',
          'content-type': 'application/json',
          cookie: '[redacted]',
          'x-custom': 'yes',
        },
        body: JSON.stringify(order),
        json: order,
        merchantPaymentReference: order.merchantPaymentReference,
        referenceNumber: payment?.referenceNumber,
        authenticated: true,
        ended: true,
        status: 201,
        answer: {
          status: 201,
          headers: {
            'content-type': 'application/json',
            'content-length': String(JSON.stringify(toStatusRecord(payment)).length),
          },
          body: JSON.stringify(toStatusRecord(payment)),
        },
      },
    ]);
  });

  test('is in the message when the request that was waited for is missing', async () => {
    const service = createService();
    await expect(service.waitForRequest({}, { timeoutMs: 0 })).rejects.toThrow(
      'No request with any fields within 0 ms (docs/errors.md#the-mock)\nThere are no requests',
    );
    service.faults.add({ on: 'request', type: 'reset-before-headers' });
    await expect(service.fetch(creation())).rejects.toThrow('reset');
    await service.fetch(new Request('http://mock.test/elsewhere'));
    await expect(
      service.waitForRequest({ path: '/nowhere', method: 'PUT' }, { timeoutMs: 0 }),
    ).rejects.toThrow(
      'No request with method PUT, path /nowhere within 0 ms (docs/errors.md#the-mock)\nThe requests:\n' +
        '  POST /api/payments, no answer, fault reset-before-headers\n  GET /elsewhere, HTTP 401',
    );
  });
});
