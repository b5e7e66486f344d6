import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createManualClock, startMockServer } from '../../../src/mock-server/index.js';
import { version } from '../../../src/protocol/version.js';
import { createPayment, postPayment, startWithPayment } from '../merchant-client.js';
import { isSigned, parseBody, type ReceivedCallback, startEndpoint } from '../merchant-endpoint.js';
import { control, readState } from './control-client.js';

const order = { merchantPaymentReference: 'order-1', amount: 12.5, currency: 'EUR' };

describe('state and settings', () => {
  test('report the settings of the service and everything it holds, newest first', async () => {
    await using endpoint = await startEndpoint(() => 503);
    const clock = createManualClock({ now: 0 });
    const { server, referenceNumber } = await startWithPayment({
      clock,
      callbackUrl: endpoint.url,
      retryScheduleMs: [60_000],
    });
    await using _ = server;
    await server.pay(referenceNumber);
    await postPayment(server, { ...order, merchantPaymentReference: 'order-2' });
    const { status, headers, body } = await control(server, 'GET', '/state');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toMatchObject({
      url: server.url,
      version,
      now: '1970-01-01T00:00:00.000Z',
      aheadMs: expect.any(Number),
      clockRuns: false,
      callbackUrl: endpoint.url,
      payments: [{ merchantPaymentReference: 'order-2' }, { referenceNumber, status: 'paid' }],
      requests: [{ merchantPaymentReference: 'order-2' }, { referenceNumber, outcome: 'accepted' }],
      deliveries: [
        {
          referenceNumber,
          merchantPaymentReference: 'order-1',
          status: 'paid',
          state: 'retrying',
          attempts: [
            {
              attempt: 1,
              outcome: 'refused',
              forged: false,
              sentAt: '1970-01-01T00:00:00.000Z',
              nextRetryAt: '1970-01-01T00:01:00.000Z',
              rawBody: endpoint.received[0]?.rawBody.toString(),
              hint: expect.stringContaining('asks for a retry'),
            },
          ],
        },
      ],
      faults: [],
      counts: { payments: 2, requests: 2, deliveries: 1, secondPayments: 0 },
    });
  });

  test('hold the newest 200 of each kind, and count all', async () => {
    await using server = await startMockServer();
    for (let count = 1; count <= 201; count += 1) {
      await createPayment(server, { ...order, merchantPaymentReference: `order-${count}` });
      await server.pay(`order-${count}`);
    }
    const state = await readState(server);
    expect(state.counts).toMatchObject({ payments: 201, requests: 201, deliveries: 201 });
    for (const list of [state.payments, state.requests, state.deliveries]) {
      expect(list).toHaveLength(200);
      expect(list[0]?.merchantPaymentReference).toBe('order-201');
    }
  });

  test.each([{}, { callbackUrl: 'nonsense' }, { callbackUrl: 5 }])(
    'settings of %j are refused and change nothing',
    async (body) => {
      await using server = await startMockServer({ callbackUrl: 'http://127.0.0.1:9/' });
      const answer = await control(server, 'PATCH', '/settings', body);
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'INVALID_REQUEST', message: expect.stringMatching(/callbackurl/i) },
      });
      expect(server.callbackUrl).toBe('http://127.0.0.1:9/');
    },
  );

  test('no answer contains a key or a secret', async () => {
    await using endpoint = await startEndpoint();
    await using server = await startMockServer({
      apiKey: 'planted-key',
      apiSecret: 'planted-secret',
      signingSecret: 'planted-signing-secret',
      callbackUrl: endpoint.url,
    });
    await postPayment(server);
    const [payment] = server.payments.list();
    await server.setStatus(payment?.referenceNumber ?? '', 'paid');
    const answers: unknown[] = [];
    for (const path of ['/state', `/payments/${payment?.referenceNumber}`]) {
      answers.push((await control(server, 'GET', path)).body);
    }
    const text = inspect(answers, { depth: null, maxStringLength: null });
    const planted = ['planted-key', 'planted-secret', 'planted-signing-secret'];
    const spellings = planted.flatMap((secret) =>
      (['utf8', 'base64', 'base64url', 'hex'] as const).map((encoding) =>
        Buffer.from(secret).toString(encoding),
      ),
    );
    expect(spellings.filter((spelling) => text.includes(spelling))).toEqual([]);
  });
});

describe('payments', () => {
  test('show their history and their deliveries, including one that was not sent', async () => {
    const { server, referenceNumber } = await startWithPayment({});
    await using _ = server;
    await server.setStatus(referenceNumber, 'authorised');
    await using endpoint = await startEndpoint(() => 204);
    server.callbackUrl = endpoint.url;
    await server.setStatus(referenceNumber, 'paid');
    const { body } = await control(server, 'GET', `/payments/${referenceNumber}`);
    expect(body).toMatchObject({
      payment: {
        status: 'paid',
        history: [{ status: 'pending' }, { status: 'authorised' }, { status: 'paid' }],
      },
      deliveries: [
        { status: 'authorised', state: 'not-configured', attempts: [] },
        {
          status: 'paid',
          state: 'acknowledged',
          updatedAt: server.payments.get(referenceNumber)?.updatedAt,
          attempts: [{ outcome: 'acknowledged', response: { status: 204, body: '' } }],
        },
      ],
    });
  });

  test.each([
    ['GET', '/payments/unknown', undefined],
    ['POST', '/payments/unknown/status', { status: 'paid' }],
    ['POST', '/deliveries/unknown/resend', {}],
  ])('%s %s is answered with 404, naming what is missing', async (method, path, body) => {
    await using server = await startMockServer();
    expect(await control(server, method, path, body)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', message: expect.stringContaining('"unknown"') },
    });
  });
});

describe('a status change', () => {
  test.each([{}, { status: ' ' }, { status: 'paid', state: 'x' }])(
    'of %j is refused',
    async (body) => {
      const { server, referenceNumber } = await startWithPayment({});
      await using _ = server;
      const answer = await control(server, 'POST', `/payments/${referenceNumber}/status`, body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
      expect(server.payments.get(referenceNumber)?.status).toBe('pending');
    },
  );
});

describe('resending', () => {
  test('a payment sends its current status, and a delivery or an attempt sends its own change', async () => {
    await using endpoint = await startEndpoint();
    const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
    await using _ = server;
    const first = await server.setStatus(referenceNumber, 'authorised');
    await server.setStatus(referenceNumber, 'paid');
    const attemptId = first.attempts[0]?.id;
    for (const path of [
      `/deliveries/${referenceNumber}/resend`,
      `/deliveries/${first.id}/resend`,
      `/deliveries/${attemptId}/resend`,
    ]) {
      expect((await control(server, 'POST', path, {})).body).toMatchObject({
        state: 'acknowledged',
      });
    }
    const sent = endpoint.received.map((callback) => parseBody(callback));
    expect(sent.map(({ status }) => status)).toEqual([
      'authorised',
      'paid',
      'paid',
      'authorised',
      'authorised',
    ]);
    expect(sent[3]).toEqual(sent[0]);
    expect(server.payments.get(referenceNumber)?.status).toBe('paid');
  });

  test('applies a fault to this delivery only, and leaves the pending ones', async () => {
    await using endpoint = await startEndpoint();
    const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
    await using _ = server;
    server.faults.add({ on: 'callback', type: 'drop' });
    const path = `/deliveries/${referenceNumber}/resend`;
    const fault = { on: 'callback', type: 'duplicate', mode: 'at-once' };
    const { body } = await control(server, 'POST', path, { fault });
    expect(body['attempts']).toHaveLength(2);
    await control(server, 'POST', path, { fault: { on: 'callback', type: 'tampered-body' } });
    const signed = endpoint.received.map((callback) => isSigned(callback, server.signingSecret));
    expect(signed).toEqual([true, true, false]);
    expect(server.faults.pending()).toHaveLength(1);
  });

  test.each([
    [{ on: 'callback', type: 'drop', times: 2 }, 'fault.times'],
    [{ on: 'request', type: 'hang' }, 'fault.on'],
  ])('with %j is refused, naming %s', async (fault, option) => {
    const { server, referenceNumber } = await startWithPayment({});
    await using _ = server;
    const path = `/deliveries/${referenceNumber}/resend`;
    const answer = await control(server, 'POST', path, { fault });
    expect(answer).toMatchObject({ status: 400, body: { option } });
  });
});

describe('an edited callback', () => {
  test('is sent with the edited body, signed again, and retried like that', async () => {
    await using endpoint = await startEndpoint((count) => (count === 2 ? 500 : 200));
    const clock = createManualClock();
    const { server, referenceNumber } = await startWithPayment({
      callbackUrl: endpoint.url,
      clock,
      retryScheduleMs: [1_000],
    });
    await using _ = server;
    await server.pay(referenceNumber);
    server.faults.add({ on: 'callback', type: 'drop', times: Number.POSITIVE_INFINITY });
    const body = '{"status" : "paid", "é": 1.10}';
    const path = `/deliveries/${server.deliveries[0]?.id}/resend`;
    const answer = await control(server, 'POST', path, { edit: { body } });
    expect(answer).toMatchObject({ status: 200, body: { state: 'retrying', edited: 'new' } });
    await clock.advance(1_000);
    const [, ...edited] = endpoint.received;
    expect(edited.map(({ rawBody }) => rawBody.toString())).toEqual([body, body]);
    expect(edited.every((one) => isSigned(one, server.signingSecret))).toBe(true);
  });

  test('keeps the original signature on request, and is a forgery', async () => {
    await using endpoint = await startEndpoint();
    const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
    await using _ = server;
    await server.pay(referenceNumber);
    const edit = { body: '{"status":"refunded"}', signature: 'kept' };
    const path = `/deliveries/${referenceNumber}/resend`;
    const { body } = await control(server, 'POST', path, { edit });
    expect(body['attempts']).toMatchObject([
      { forged: true, hint: expect.stringContaining('accepted a forged callback') },
    ]);
    const [original, edited] = endpoint.received as [ReceivedCallback, ReceivedCallback];
    expect(isSigned(edited, server.signingSecret)).toBe(false);
    expect(isSigned({ ...edited, rawBody: original.rawBody }, server.signingSecret)).toBe(true);
  });

  test.each([
    { edit: null },
    { edit: { body: 5 } },
    { edit: { body: '', signature: 'none' } },
    { edit: { body: '' }, fault: { on: 'callback', type: 'drop' } },
  ])('%j is refused, naming the field', async (body) => {
    const { server, referenceNumber } = await startWithPayment({});
    await using _ = server;
    expect(
      await control(server, 'POST', `/deliveries/${referenceNumber}/resend`, body),
    ).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', option: expect.stringMatching(/^edit/) },
    });
  });
});

describe('faults', () => {
  test('are removed by id, and ids are never used again', async () => {
    await using server = await startMockServer();
    for (const type of ['hang', 'html-error', 'unauthorized'] as const) {
      server.faults.add({ on: 'request', type });
    }
    const removed = await control(server, 'DELETE', '/faults/2');
    const left = [
      { id: '1', type: 'hang' },
      { id: '3', type: 'unauthorized' },
    ];
    expect(removed).toMatchObject({ status: 200, body: { faults: left } });
    expect(await control(server, 'DELETE', '/faults/2')).toMatchObject({
      status: 404,
      body: { message: 'There is no fault "2"' },
    });
    server.reset();
    server.faults.add({ on: 'request', type: 'hang' });
    expect((await readState(server)).faults).toMatchObject([{ id: '4' }]);
  });

  test.each([
    [{}, 'fault.on'],
    [{ on: 'callback', type: 'hang' }, 'fault.type'],
    [{ on: 'callback', type: 'drop', time: 3 }, 'fault.time'],
    [{ on: 'callback', type: 'drop', times: 'always' }, 'fault.times'],
  ])('%j is refused, naming %s', async (fault, field) => {
    await using server = await startMockServer();
    expect(await control(server, 'POST', '/faults', fault)).toMatchObject({
      status: 400,
      body: { option: field, message: expect.stringContaining(`${field} `) },
    });
    expect(server.faults.pending()).toEqual([]);
  });
});

describe('the clock', () => {
  test('is advanced: retries due by then are made before the answer', async () => {
    await using endpoint = await startEndpoint((count) => (count < 3 ? 500 : 200));
    const { server, referenceNumber } = await startWithPayment({
      callbackUrl: endpoint.url,
      retryScheduleMs: [60_000, 3_600_000],
    });
    await using _ = server;
    await server.setStatus(referenceNumber, 'paid');
    const before = Date.now();
    const { status, body } = await control(server, 'POST', '/clock/advance', { ms: 7_200_000 });
    expect(status).toBe(200);
    expect(Date.parse(String(body['now']))).toBeGreaterThanOrEqual(before + 7_200_000);
    expect(server.deliveries.map(({ outcome }) => outcome)).toEqual([
      'refused',
      'refused',
      'acknowledged',
    ]);
  });

  test('is advanced only after running attempts, whose retries are not scheduled yet', async () => {
    let answerLater: (() => void) | undefined;
    await using endpoint = await startEndpoint((count) =>
      count > 1
        ? 200
        : (response) => {
            answerLater = () => response.writeHead(500).end();
          },
    );
    const { server, referenceNumber } = await startWithPayment({
      callbackUrl: endpoint.url,
      retryScheduleMs: [3_600_000],
    });
    await using _ = server;
    const change = server.setStatus(referenceNumber, 'paid');
    await endpoint.waitFor(1);
    const advance = control(server, 'POST', '/clock/advance', { ms: 7_200_000 });
    const meanwhile = await control(server, 'POST', '/clock/advance', { ms: 1 });
    expect(meanwhile.status).toBe(409);
    answerLater?.();
    await advance;
    await change;
    expect(server.deliveries.map(({ outcome }) => outcome)).toEqual(['refused', 'acknowledged']);
  });

  test.each([{}, { ms: -1 }])('by %j is refused', async (body) => {
    await using server = await startMockServer();
    const answer = await control(server, 'POST', '/clock/advance', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });
});

describe('calls', () => {
  test('a reset deletes everything except the settings', async () => {
    const { server } = await startWithPayment({ callbackUrl: 'http://127.0.0.1:9/' });
    await using _ = server;
    server.faults.add({ on: 'callback', type: 'drop' });
    const { body } = await control(server, 'POST', '/reset', {});
    expect(body).toMatchObject({ callbackUrl: 'http://127.0.0.1:9/' });
    expect(await readState(server)).toMatchObject({
      payments: [],
      requests: [],
      deliveries: [],
      faults: [],
      counts: { payments: 0, requests: 0, deliveries: 0, secondPayments: 0 },
    });
  });

  test.each([
    ['/nothing', 404],
    ['/payments/%zz', 404],
  ])('%s is %i', async (path, status) => {
    await using server = await startMockServer();
    expect(await control(server, 'GET', path)).toMatchObject({
      status,
      body: { code: 'NOT_FOUND' },
    });
  });

  test('another method is answered with 405 and the allowed ones', async () => {
    await using server = await startMockServer();
    const answer = await control(server, 'PATCH', '/faults', {});
    expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
    expect(answer.headers.get('allow')).toBe('POST, DELETE');
  });

  test('a body over 1 MiB is 413', async () => {
    await using server = await startMockServer();
    const body = { ...order, note: 'x'.repeat(1_048_576) };
    expect(await control(server, 'POST', '/faults', body)).toMatchObject({ status: 413 });
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', undefined])(
    'a body of type %s is answered with 415, as a form of another site can send it',
    async (type) => {
      await using server = await startMockServer();
      const answer = await fetch(`${server.url}/_mock/faults`, {
        method: 'POST',
        body: Buffer.from('{"on":"request","type":"hang"}'),
        ...(type !== undefined && { headers: { 'content-type': type } }),
      });
      expect(answer.status).toBe(415);
      expect(server.faults.pending()).toEqual([]);
    },
  );

  test.each(['[]', '{', '{"merchantPaymentReference":"\u{d800}"'])(
    'the body %s is refused',
    async (body) => {
      await using server = await startMockServer();
      expect(await control(server, 'POST', '/faults', body)).toMatchObject({
        status: 400,
        body: { message: 'The body must be a JSON object in UTF-8' },
      });
    },
  );

  test.each([
    ['POST', '/reset', { all: true }, 'all is not a known option; leave it out'],
    ['POST', '/clock/advance', {}, /^ms is missing; it must be a whole number of milliseconds/],
    [
      'PATCH',
      '/settings',
      {},
      'callbackUrl is missing; it must be an http or https URL, or null for none',
    ],
    ['POST', '/reset', { 'planted secret': '' }, /^one of the names given is not a known option/],
  ])('%s %s with %j is refused, and nothing is quoted', async (method, path, sent, message) => {
    await using server = await startMockServer();
    const { status, body } = await control(server, method, path, sent);
    expect([status, body['code']]).toEqual([400, 'INVALID_REQUEST']);
    if (typeof message === 'string') expect(body['message']).toBe(message);
    else expect(body['message']).toMatch(message);
    expect(JSON.stringify(body)).not.toContain('planted');
  });

  test('answers forbid caching, sniffing and reading from other origins', async () => {
    await using server = await startMockServer();
    for (const path of ['/state', '/unknown']) {
      const { headers } = await control(server, 'GET', path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('a path that only starts with /_mock is the service’s own', async () => {
    await using server = await startMockServer();
    const answer = await fetch(`${server.url}/_mocking`);
    expect(answer.status).toBe(401);
    expect(server.requests).toHaveLength(1);
  });
});
