import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PaymentClientOptions } from '../../src/client/options.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { RequestError } from '../../src/errors.js';
import {
  apiKey,
  apiSecret,
  createClient as createClientOf,
  created,
  failureOf,
  order,
  startRawServer,
} from './raw-server.js';

type Options = Partial<PaymentClientOptions>;

const basic = (key: string, secret: string) => `Basic ${btoa(`${key}:${secret}`)}`;

const createClient = ({
  baseUrl = 'https://payments.invalid',
  ...options
}: Options): PaymentClient => createClientOf(baseUrl as string, options);

describe('credentials as functions', () => {
  it('are read at each call, and rotate without a restart', async () => {
    const server = await startRawServer({ answer: () => created });
    let secret = 'first-secret';
    const readSecret = vi.fn(async () => secret);
    const client = createClient({
      baseUrl: server.url,
      apiKey: () => 'rotating-key',
      apiSecret: readSecret,
    });
    await client.payments.create(order);
    await client.request({ method: 'GET', path: '/x' });
    secret = 'second-secret';
    await client.payments.create(order);
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
      basic('rotating-key', 'first-secret'),
      basic('rotating-key', 'first-secret'),
      basic('rotating-key', 'second-secret'),
    ]);
    expect(readSecret).toHaveBeenCalledTimes(3);
  });

  it('may be one function beside a text, also for fromEnv', async () => {
    const server = await startRawServer({ answer: () => created });
    const options = { baseUrl: server.url, apiKey: 'fixed-key', apiSecret: () => 'stored-secret' };
    for (const client of [new PaymentClient(options), PaymentClient.fromEnv(options, {})]) {
      onTestFinished(() => client.close());
      await client.payments.create(order);
    }
    const sent = server.requests.map(({ headers }) => headers['authorization']);
    expect(sent).toEqual(Array(2).fill(basic('fixed-key', 'stored-secret')));
  });

  it('are read once for all attempts of a call', async () => {
    const answers = [new Response(null, { status: 429 }), new Response(null, { status: 201 })];
    const fetch = vi.fn(async () => answers.shift() as Response);
    const readSecret = vi.fn(() => 'once-secret');
    const client = createClient({ fetch, apiSecret: readSecret });
    const { response } = await client.payments.create(order);
    expect(response.attempts).toBe(2);
    expect(readSecret).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['an error with a name', new TypeError('hunter2'), ' (TypeError)'],
    ['an error with a code', Object.assign(new Error('hunter2'), { code: 'ENOENT' }), ' (ENOENT)'],
    [
      'an error whose cause has a code',
      new Error('hunter2', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
      ' (ECONNREFUSED)',
    ],
    ['a text', 'hunter2', ''],
  ])('fail the call when they throw %s, and nothing is sent', async (_what, thrown, why) => {
    const server = await startRawServer({ answer: () => created });
    for (const option of ['apiKey', 'apiSecret'] as const) {
      for (const give of [
        () => {
          throw thrown;
        },
        () => Promise.reject(thrown),
      ]) {
        const client = createClient({ baseUrl: server.url, [option]: give });
        const error = await failureOf(client.payments.create(order));
        expect(error).toBeInstanceOf(RequestError);
        expect(error.toJSON()).toEqual({
          name: 'SecretUnavailableError',
          code: 'SECRET_UNAVAILABLE',
          option,
          message: `${option} could not be read: its function failed${why}. Nothing was sent: it is safe to try again.`,
          requestOutcome: 'not-sent',
          safeToRetry: true,
        });
        expect(inspect(error, { showHidden: true })).not.toContain('hunter2');
      }
    }
    expect(server.connections).toHaveLength(0);
  });

  it.each([
    ['nothing', undefined, 'is missing; it must be a string that is not empty'],
    ['a control character', 'hunter\u00002', 'must not contain control characters'],
  ])('fail the call when they give %s, without the value', async (_what, value, says) => {
    const server = await startRawServer({ answer: () => created });
    for (const option of ['apiKey', 'apiSecret'] as const) {
      const client = createClient({ baseUrl: server.url, [option]: () => value });
      const error = await failureOf(client.payments.create(order));
      expect(error).toMatchObject({ code: 'INVALID_OPTION', option });
      expect(error).toMatchObject({ requestOutcome: 'not-sent', safeToRetry: false });
      expect(error.message).toContain(`${option} ${says}`);
      expect(inspect(error, { showHidden: true })).not.toContain('hunter');
    }
    expect(server.connections).toHaveLength(0);
  });

  it('have the deadline of the call', async () => {
    const client = createClient({ apiSecret: () => new Promise<string>(() => {}), timeoutMs: 20 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'not-sent', safeToRetry: true });
    expect(error.message).toBe(
      'POST /api/payments did not end within 20 ms: apiKey and apiSecret were not read in time. Nothing was sent: it is safe to try again. (docs/errors.md#calls)',
    );
  });

  it('are not waited for once the call is aborted, and may fail later', async () => {
    const controller = new AbortController();
    const client = createClient({
      apiSecret: async () => {
        controller.abort();
        await Promise.resolve();
        throw new Error('later');
      },
    });
    const call = client.payments.create(order, { signal: controller.signal });
    expect(await failureOf(call)).toMatchObject({ code: 'ABORTED', requestOutcome: 'not-sent' });
  });

  it('are taken out of what the service says', async () => {
    const echo = JSON.stringify({ code: 'X', message: 'got rotating-secret-1' });
    const client = createClient({
      apiSecret: () => 'rotating-secret-1',
      fetch: async () => new Response(echo, { status: 422 }),
    });
    const error = await failureOf(client.payments.create(order));
    expect(error.message).toContain('got [redacted]');
  });
});

describe('headers', () => {
  const sentWith = async (
    clientHeaders: Record<string, string> | undefined,
    callHeaders?: Record<string, string>,
  ) => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient({ baseUrl: server.url, headers: clientHeaders });
    await client.payments.create(order, { headers: callHeaders });
    await client.request({ method: 'GET', path: '/x' }, { headers: callHeaders });
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
      basic(apiKey, apiSecret),
      basic(apiKey, apiSecret),
    ]);
    expect(server.requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      undefined,
    ]);
    return server.requests[0]?.headers;
  };

  it('of the client and of a call are sent, a call’s in place of the client’s', async () => {
    const sent = await sentWith(
      { 'Api-Version': '2026-01', 'X-Shop': 'one', 'User-Agent': 'shop/1' },
      { 'x-shop': 'two', 'Idempotency-Key': 'order-1001' },
    );
    expect(sent).toMatchObject({
      'api-version': '2026-01',
      'x-shop': 'two',
      'idempotency-key': 'order-1001',
      'user-agent': 'shop/1',
      accept: 'application/json',
      'accept-encoding': 'identity',
    });
  });

  it.each([
    ['Authorization', 'must not have authorization: the client sets it'],
    ['Content-Type', 'must not have content-type: the client sets it'],
    ['Connection', 'must not have connection: it belongs to the connection'],
    ['Accept-Encoding', 'must not have accept-encoding: the client sets it'],
    ['', 'has an invalid header name'],
    ['hunter2 x', 'has an invalid header name'],
    ['x'.repeat(129), 'has an invalid header name'],
  ])('may not be named %j', async (name, says) => {
    const headers = { [name]: 'value' };
    expect(() => createClient({ headers })).toThrow(`headers ${says}`);
    const error = await failureOf(createClient({}).payments.create(order, { headers }));
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'headers' });
    expect(error).toMatchObject({ requestOutcome: 'not-sent' });
    expect(error.message).toContain(`headers ${says}`);
    expect(error.message).not.toContain('hunter2');
  });

  it.each(['hunter2\r\nx-injected: 1', 'hunter2\u0000', 'hunter2\u007f', 'hunter2 €'])(
    'may not have the value %j, which is not quoted',
    (value) => {
      const make = () => createClient({ headers: { 'X-Token': value } });
      expect(make).toThrow('headers.x-token must not contain line breaks, control characters');
      expect(make).not.toThrow('hunter2');
    },
  );

  it.each<[unknown, string]>([
    [[['a', 'b']], 'headers must be an object of header names and values; received an array'],
    [new Headers(), 'headers must be an object of header names and values; received an object'],
    [{ a: 7 }, 'headers.a must be a string; received a number'],
    [{ a: 'b', A: 'c' }, 'headers has a twice; give it once'],
  ])('are refused when they are %j', (headers, says) => {
    expect(() => createClient({ headers: headers as Record<string, string> })).toThrow(says);
  });
});
