import { inspect } from 'node:util';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { InvalidOptionError } from '../../src/errors.js';
import {
  apiKey,
  apiSecret,
  authorization,
  connectionsClosed,
  createClient,
  created,
  failureOf,
  order,
  startRawServer,
  transports,
} from './raw-server.js';

describe.each(transports)('connections, with $name,', ({ name, options }) => {
  it('are kept for the calls that follow', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url, options);
    for (let call = 0; call < 10; call += 1) await client.payments.create(order);
    expect(server.requests).toHaveLength(10);
    // fetch gives its connection back a turn of the event loop later, when the next call has begun.
    expect(server.connections.length).toBeLessThanOrEqual(name === 'undici' ? 1 : 2);
  });

  it('that the server closed while they were idle do not fail the next call', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url, options);
    await client.payments.create(order);
    const closed = connectionsClosed(server);
    server.connections[0]?.end();
    await closed;
    // The client's side has ended as well, since the server's has closed.
    expect((await client.payments.create(order)).response.attempts).toBe(1);
    expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });
});

it.each([1, 16])(
  'answers whose connections the server ends with them, unannounced, do not fail the next calls, %i in flight',
  async (inFlight) => {
    const server = await startRawServer({
      answer: ({ socket }) => void socket.end(created),
    });
    const client = createClient(server.url);
    const attempts: number[] = [];
    const caller = async (): Promise<void> => {
      for (let call = 0; call < 10; call += 1) {
        attempts.push((await client.payments.create(order)).response.attempts);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
    expect(attempts).toEqual(Array.from({ length: 10 * inFlight }, () => 1));
  },
);

describe('close()', () => {
  it('waits for the calls in flight, then closes the connections', async () => {
    const server = await startRawServer({});
    const client = createClient(server.url);
    const calls = [client.payments.create(order), client.payments.create(order)];
    await server.received(2);
    let closed = false;
    const closing = client.close().then(() => {
      closed = true;
    });
    server.requests[0]?.socket.write(created);
    await Promise.race(calls);
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    const ended = connectionsClosed(server);
    server.requests[1]?.socket.write(created);
    await Promise.all(calls);
    await closing;
    await ended;
  });

  it('refuses further calls at once, and nothing is sent', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    const closing = client.close();
    for (const call of [
      client.payments.create(order),
      client.request({ method: 'GET', path: '/api/payments' }),
    ]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
      expect(error.safeToRetry).toBe(false);
      expect(error.message).toContain('/api/payments was not sent: the client was closed');
    }
    await closing;
    expect(server.connections).toHaveLength(0);
  });

  it('can be called again, also as Symbol.asyncDispose', async () => {
    const client = createClient('https://payments.invalid');
    expect(client.close()).toBe(client.close());
    await client[Symbol.asyncDispose]();
    await client.close();
  });

  it('leaves a dispatcher that was given to the client open', async () => {
    const server = await startRawServer({ answer: () => created });
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.destroy());
    const client = createClient(server.url, { dispatcher });
    await client.payments.create(order);
    await client.close();
    expect(dispatcher.closed).toBe(false);
    expect(dispatcher.destroyed).toBe(false);
    await createClient(server.url, { dispatcher }).payments.create(order);
    expect(server.connections).toHaveLength(1);
  });
});

describe('fromEnv', () => {
  const env = {
    MERCHANT_PAYMENTS_BASE_URL: 'https://payments.example/v2',
    MERCHANT_PAYMENTS_API_KEY: apiKey,
    MERCHANT_PAYMENTS_API_SECRET: apiSecret,
  };

  it('sends with the base URL, key and secret of the environment', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = PaymentClient.fromEnv({}, { ...env, MERCHANT_PAYMENTS_BASE_URL: server.url });
    onTestFinished(() => client.close());
    await client.payments.create(order);
    expect(server.requests[0]?.headers['authorization']).toBe(authorization);
  });

  it('reads process.env when it is called, not before', () => {
    expect(PaymentClient.fromEnv().toJSON()).toEqual({ baseUrl: '' });
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    expect(PaymentClient.fromEnv().toJSON()).toEqual({ baseUrl: 'https://payments.example/v2' });
  });

  it.each([
    ['changed', { MERCHANT_PAYMENTS_API_KEY: 'key-of-another', MERCHANT_PAYMENTS_API_SECRET: 'x' }],
    ['removed', { MERCHANT_PAYMENTS_API_KEY: undefined, MERCHANT_PAYMENTS_API_SECRET: undefined }],
  ])(
    'holds to the account it was made for when the variables are %s afterwards',
    async (_how, later) => {
      const server = await startRawServer({ answer: () => created });
      const other = await startRawServer({ answer: () => created });
      const given = { ...env, MERCHANT_PAYMENTS_BASE_URL: server.url };
      const overrides = { timeoutMs: 5_000, headers: { 'x-shop': 'first' } };
      const client = PaymentClient.fromEnv(overrides, given);
      onTestFinished(() => client.close());
      Object.assign(given, later, { MERCHANT_PAYMENTS_BASE_URL: other.url });
      Object.assign(overrides, { timeoutMs: 0 });
      overrides.headers['x-shop'] = 'second';
      await client.payments.create(order);
      expect(server.requests[0]?.headers).toMatchObject({ authorization, 'x-shop': 'first' });
      expect(other.requests).toHaveLength(0);
      expect(client.toJSON()).toEqual({ baseUrl: server.url });
    },
  );

  it.each([
    ['MERCHANT_PAYMENTS_BASE_URL', 'baseUrl'],
    ['MERCHANT_PAYMENTS_API_KEY', 'apiKey'],
    ['MERCHANT_PAYMENTS_API_SECRET', 'apiSecret'],
  ])('names %s at each call as long as it is missing or empty', async (variable, option) => {
    const server = await startRawServer({ answer: () => created });
    const complete = { ...env, MERCHANT_PAYMENTS_BASE_URL: server.url };
    for (const [index, value] of [undefined, ''].entries()) {
      const given: Record<string, string | undefined> = { ...complete, [variable]: value };
      const client = PaymentClient.fromEnv({}, given);
      onTestFinished(() => client.close());
      for (const call of [
        () => client.payments.create(order),
        () => client.request({ method: 'GET', path: '/x' }),
      ]) {
        const error = await failureOf(call());
        expect(error).toMatchObject({ code: 'INVALID_OPTION', option });
        expect(error).toMatchObject({ requestOutcome: 'not-sent', safeToRetry: false });
        expect(error.message).toContain(
          `${option} is missing; set ${variable}, or pass ${option} to PaymentClient.fromEnv()`,
        );
      }
      expect(client.toJSON().baseUrl).toBe(option === 'baseUrl' ? '' : server.url);
      expect(server.requests).toHaveLength(index);
      given[variable] = complete[variable as keyof typeof complete];
      await client.payments.create(order);
      expect(client.toJSON()).toEqual({ baseUrl: server.url });
      expect(server.requests).toHaveLength(index + 1);
    }
  });

  it('names all that is missing at once', async () => {
    const client = PaymentClient.fromEnv({}, { MERCHANT_PAYMENTS_API_KEY: 'key' });
    onTestFinished(() => client.close());
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'baseUrl' });
    expect(error.message).toContain(
      'baseUrl, apiSecret are missing; set MERCHANT_PAYMENTS_BASE_URL, MERCHANT_PAYMENTS_API_SECRET, or pass baseUrl, apiSecret to',
    );
  });

  it.each([
    ['MERCHANT_PAYMENTS_BASE_URL', ' ', 'baseUrl'],
    ['MERCHANT_PAYMENTS_BASE_URL', 'payments.example', 'baseUrl'],
    ['MERCHANT_PAYMENTS_API_KEY', ' ', 'apiKey'],
    ['MERCHANT_PAYMENTS_API_SECRET', 'x\n', 'apiSecret'],
  ])('refuses %s=%j at once, also where another is missing', (variable, value, option) => {
    for (const rest of [env, {}]) {
      const make = () => PaymentClient.fromEnv({}, { ...rest, [variable]: value });
      expect(make).toThrow(InvalidOptionError);
      expect(make).toThrow(expect.objectContaining({ option }));
    }
    expect(() => PaymentClient.fromEnv({ timeoutMs: 0 }, {})).toThrow('timeoutMs');
  });

  it('lets the given options win, an empty one as well', () => {
    const client = PaymentClient.fromEnv({ baseUrl: new URL('https://other.example') }, env);
    expect(client.toJSON()).toEqual({ baseUrl: 'https://other.example' });
    expect(() => PaymentClient.fromEnv({ apiSecret: '' }, env)).toThrow('apiSecret');
    const none = { apiSecret: null } as never;
    expect(() => PaymentClient.fromEnv(none, env)).toThrow('apiSecret must be');
    expect(() => PaymentClient.fromEnv({ timeoutMs: 0 }, env)).toThrow('timeoutMs');
    expect(PaymentClient.fromEnv({ apiKey: undefined } as object, env)).toBeInstanceOf(
      PaymentClient,
    );
  });
});

it('shows its base URL and nothing else', async () => {
  const server = await startRawServer({ answer: () => created });
  const client = createClient(`${server.url}/v2/`);
  await client.payments.create(order);
  expect(inspect(client)).toBe(`PaymentClient { baseUrl: '${server.url}/v2' }`);
  expect(JSON.stringify({ client })).toBe(`{"client":{"baseUrl":"${server.url}/v2"}}`);
  const all = { showHidden: true, depth: Number.POSITIVE_INFINITY };
  const printed = [
    inspect(client, { ...all, customInspect: false }),
    inspect(client.payments, all),
    String(client),
  ];
  for (const secret of [apiKey, apiSecret, authorization])
    expect(printed.join('\n')).not.toContain(secret);
});
