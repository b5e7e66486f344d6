import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import {
  ApiError,
  CallbackVerificationError,
  ConnectionError,
  InvalidCredentialsError,
  InvalidOptionError,
  InvalidRequestError,
  MerchantPaymentsError,
  RequestAbortedError,
  RequestTimeoutError,
  ResponseError,
} from '../../src/errors.js';
import {
  apiKey,
  apiSecret,
  authorization,
  createClient,
  created,
  failureOf,
  holdDeadline,
  httpAnswer,
  order,
  record,
  startRawServer,
  transports,
  withoutJitter,
} from './raw-server.js';

// What users of other SDKs ran into: each of these was reported against at least one of them.

it('new credentials take effect by a new client, while the old one finishes its calls', async () => {
  const server = await startRawServer({});
  const old = createClient(server.url);
  const call = old.payments.create(order);
  await server.received(1);
  const renewed = createClient(server.url, { apiSecret: 'secret-renewed' });
  const closing = old.close();
  const next = renewed.payments.create(order);
  await server.received(2);
  for (const { socket } of server.requests) socket.write(created);
  await Promise.all([call, next, closing]);
  const basic = Buffer.from(`${apiKey}:secret-renewed`).toString('base64');
  expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
    authorization,
    `Basic ${basic}`,
  ]);
});

describe.each(transports)('with $name', ({ options }) => {
  it.each([
    ['a 429', httpAnswer(429, '', { 'retry-after': '0' })],
    ['a 500', httpAnswer(500)],
  ])('maxRetries 0 means one request, after %s too', async (_what, answer) => {
    const server = await startRawServer({ answer: () => answer });
    const client = createClient(server.url, {
      ...options,
      maxRetries: 0,
      idempotency: 'merchantPaymentReference',
    });
    await failureOf(client.payments.create(order));
    expect(server.requests).toHaveLength(1);
  });

  it('a POST that may have been processed is not sent again', async () => {
    withoutJitter();
    const server = await startRawServer({ answer: ({ socket }) => void socket.resetAndDestroy() });
    const error = await failureOf(createClient(server.url, options).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(server.requests).toHaveLength(1);
  });

  it('a body that stalls does not hang for ever', async () => {
    const server = await startRawServer({
      answer: () => 'HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\n{"a"',
    });
    const call = createClient(server.url, options).payments.create(order, { timeoutMs: 200 });
    expect(await failureOf(call)).toMatchObject({ code: 'TIMEOUT' });
  });

  it('a body that comes a byte at a time does not outlast the deadline', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const server = await startRawServer({
      answer: ({ socket }) => {
        socket.write('HTTP/1.1 201 Created\r\ncontent-length: 1000000\r\n\r\n');
        const drip = () => {
          if (!socket.destroyed) socket.write(' ', () => setImmediate(drip));
        };
        drip();
        return undefined;
      },
    });
    const client = createClient(server.url, { ...options, timeoutMs });
    const failure = failureOf(client.payments.create(order));
    await server.received(1);
    setImmediate(expire);
    expect((await failure).code).toBe('TIMEOUT');
  });

  it('a 201 of an unexpected shape is a success, since the payment exists', async () => {
    const body = { ...record, status: null, createdAt: 'yesterday', extra: [1] };
    const server = await startRawServer({ answer: () => httpAnswer(201, body) });
    const { payment, response } = await createClient(server.url, options).payments.create(order);
    expect(payment.referenceNumber).toBe(record.referenceNumber);
    expect(payment).not.toHaveProperty('status');
    expect(response.body).toEqual(body);
  });

  it("18: fetch's own error text, which quotes the Authorization value, is not passed on", async () => {
    const quoting = () =>
      Promise.reject(
        Object.assign(new TypeError(`Headers.append: "${authorization}" is an invalid value`), {
          code: 'ERR_INVALID_HEADER',
        }),
      );
    const client = createClient('https://payments.invalid', { fetch: quoting });
    const text = inspect(await failureOf(client.payments.create(order)), { showHidden: true });
    expect(text).not.toContain(authorization.slice('Basic '.length));
    expect(text).toContain('Headers.append: "Basic [redacted]" is an invalid value');
  });
});

const classes = {
  ApiError,
  CallbackVerificationError,
  ConnectionError,
  InvalidCredentialsError,
  InvalidOptionError,
  InvalidRequestError,
  MerchantPaymentsError,
  RequestAbortedError,
  RequestTimeoutError,
  ResponseError,
};

it('every error type exists at run time', () => {
  expect(Object.values(classes)).toHaveLength(10);
  for (const [name, errorClass] of Object.entries(classes)) {
    expect(errorClass.prototype).toBeInstanceOf(Error);
    expect(errorClass.prototype.name).toBe(name);
  }
});

it('a variable that is missing fails the call, not the module that makes the client', async () => {
  const bare = PaymentClient.fromEnv({}, {});
  await expect(bare.payments.create(order)).rejects.toThrow('MERCHANT_PAYMENTS_BASE_URL');
  const env = { MERCHANT_PAYMENTS_BASE_URL: 'https://payments.example' };
  const call = PaymentClient.fromEnv({}, env).payments.create(order);
  await expect(call).rejects.toThrow('MERCHANT_PAYMENTS_API_KEY');
  expect(PaymentClient.fromEnv({ apiKey, apiSecret }, env)).toBeInstanceOf(PaymentClient);
});

it('a client that is printed shows no credentials', async () => {
  const server = await startRawServer({ answer: () => created });
  const client = createClient(server.url, { logger: console });
  const printed = [
    inspect(client, { showHidden: true, depth: Number.POSITIVE_INFINITY }),
    inspect(client, { showHidden: true, depth: Number.POSITIVE_INFINITY, customInspect: false }),
    inspect(client.payments, { showHidden: true, depth: Number.POSITIVE_INFINITY }),
    JSON.stringify(client),
    String(client),
  ].join('\n');
  for (const secret of [apiKey, apiSecret, authorization]) expect(printed).not.toContain(secret);
});
