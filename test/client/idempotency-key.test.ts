import { describe, expect, it } from 'vitest';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import { MEMORY, openStore } from '../store/memory-engine.js';
import vectors from '../vectors/idempotency-keys.json' with { type: 'json' };
import {
  apiKey,
  apiSecret,
  createClient,
  created,
  httpAnswer,
  order,
  refusalOf,
  startRawServer,
  transports,
  withoutJitter,
} from './raw-server.js';

const idempotency = { header: 'Idempotency-Key' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const busy = httpAnswer(429, '', { 'retry-after': '0' });

const startKeyed = async (...answers: readonly string[]) => {
  const server = await startRawServer({ answer: (_request, index) => answers[index] ?? created });
  const keys = () => server.requests.map(({ headers }) => headers['idempotency-key']);
  return { ...server, keys };
};

/** The keys of payments that clients of their own create. */
async function keysOf(...payments: readonly { extraBody?: Record<string, unknown> }[]) {
  const { url, keys } = await startKeyed();
  for (const { extraBody, ...more } of payments) {
    const client = createClient(url, { idempotency });
    await client.payments.create({ ...order, ...more }, { extraBody });
  }
  return keys();
}

describe('the key of a payment', () => {
  it('is not sent unless a header is named', async () => {
    const { url, keys } = await startKeyed();
    await createClient(url).payments.create(order);
    await createClient(url, { idempotency: 'merchantPaymentReference' }).payments.create(order);
    expect(keys()).toEqual([undefined, undefined]);
  });

  it.each(transports)('is one for all requests of a call, with $name', async ({ options }) => {
    withoutJitter();
    const { url, keys } = await startKeyed(busy, busy);
    await createClient(url, { ...options, idempotency }).payments.create(order);
    const [key] = keys();
    expect(key).toMatch(UUID);
    expect(keys()).toEqual([key, key, key]);
  });

  it('is the same for whoever creates that payment again', async () => {
    const { url, keys } = await startKeyed();
    const clients = [
      { idempotency },
      {
        idempotency: { header: 'idempotency-key' },
        apiKey: 'rotated-key',
        apiSecret: 'rotated-secret',
      },
      { idempotency, baseUrl: `${url}/other`, headers: { 'api-version': '2' } },
    ];
    for (const options of clients) await createClient(url, options).payments.create(order);
    const [key] = keys();
    expect(keys()).toEqual([key, key, key]);
  });

  it('is the same whatever the order of the fields', async () => {
    const [one, other] = await keysOf(
      { extraBody: { note: 'a', lines: [{ a: 1, b: 2 }], 7: 'x' } },
      { extraBody: { 7: 'x', lines: [{ b: 2, a: 1 }], note: 'a' } },
    );
    expect(one).toMatch(UUID);
    expect(other).toBe(one);
  });

  it('differs for another reference, amount, currency or field', async () => {
    const payments = [
      {},
      { merchantPaymentReference: 'order-1002' },
      { amount: 2501 },
      { currency: 'USD' },
      { extraBody: { note: 'a' } },
      { extraBody: { note: 'b' } },
      { extraBody: { lines: [1, 2] } },
      { extraBody: { lines: [2, 1] } },
    ];
    expect(new Set(await keysOf(...payments)).size).toBe(payments.length);
  });

  it.each(vectors)('is that which Python makes: $name', async ({ body, key }) => {
    const { merchantPaymentReference, amount, currency, ...extraBody } = body;
    const payment = { merchantPaymentReference, amount, currency, extraBody };
    expect(await keysOf(payment)).toEqual([key]);
  });

  it('is the same when another process recovers the payment', async () => {
    const { url, keys } = await startKeyed(busy);
    const backend = new MemoryBackend(MEMORY);
    const extraBody = { note: 'a', 7: 'x' };
    const open = () =>
      openStore(backend, { client: createClient(url, { idempotency, maxRetries: 0 }) });
    expect(await open().create(order, { extraBody })).toMatchObject({ state: 'recorded' });
    await open().recover();
    expect(await open().get(order.merchantPaymentReference)).toMatchObject({ state: 'created' });
    const [key] = keys();
    expect(key).toMatch(UUID);
    expect(keys()).toEqual([key, key]);
  });

  it('is not sent with other operations, which may have their own', async () => {
    const { url, keys } = await startKeyed();
    const client = createClient(url, { idempotency });
    const request = { method: 'POST', path: '/api/refunds', body: order };
    await client.request(request);
    await client.request(request, { headers: { 'idempotency-key': 'mine' } });
    expect(keys()).toEqual([undefined, 'mine']);
  });
});

const refused = (idempotency: unknown) =>
  refusalOf({ baseUrl: 'https://payments.example', apiKey, apiSecret, idempotency });

describe('idempotency', () => {
  const expected =
    "must be { header: 'idempotency-key' } with the header's name, or 'merchantPaymentReference'";

  it.each<[unknown, string, string]>([
    ['idempotency-key', 'idempotency', `${expected}; received a string of 15 characters`],
    [true, 'idempotency', `${expected}; received a boolean`],
    [{}, 'idempotency.header', 'is missing; it must be the name of a header'],
    [{ headers: 'a' }, 'idempotency.headers', 'is not a known option; use idempotency.header'],
    [{ header: 'a', keys: 1 }, 'idempotency.keys', 'is not a known option; the options are header'],
  ])('is refused as %j', (given, option, says) => {
    const error = refused(given);
    expect(error.option).toBe(option);
    expect(error.message).toContain(says);
  });
});

describe('the header of the key', () => {
  it.each<[unknown, string]>([
    ['', 'the name of a header'],
    ['key\r\nx: 1', 'the name of a header'],
    [true, 'the name of a header'],
    ['Authorization', 'must not be authorization: the client sets it'],
    ['User-Agent', 'must not be user-agent: the client sets it'],
    ['connection', 'must not be connection: it belongs to the connection'],
  ])('is refused as %j', (name, says) => {
    const error = refused({ header: name });
    expect(error.option).toBe('idempotency.header');
    expect(error.message).toContain(says);
  });

  it('replaces one of that name, in any case, which nothing stores', async () => {
    const { url, keys } = await startKeyed();
    const headers = { 'IDEMPOTENCY-KEY': 'the same for all payments' };
    await createClient(url, { idempotency, headers }).payments.create(order);
    await createClient(url, { idempotency }).payments.create(order, { headers });
    await createClient(url, { idempotency }).payments.create(order);
    expect(keys()).toEqual(Array(3).fill(expect.stringMatching(UUID)));
    expect(new Set(keys()).size).toBe(1);
  });
});
