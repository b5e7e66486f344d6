import { expect, it } from 'vitest';
import { InvalidRequestError } from '../../src/errors.js';
import { startMockServer } from '../../src/mock-server/server.js';
import { memoryStore } from '../../src/store/memory.js';
import { createClient, failureOf, order, startRawServer } from './raw-server.js';

const spoilt = { ...order, amount: 19.99 * 100 };
const says = 'was 1999 meant?';

it('an amount that float arithmetic has spoilt is refused, and nothing is sent', async () => {
  const server = await startRawServer({});
  const client = createClient(server.url);
  const failure = await failureOf(client.payments.create(spoilt));
  expect(failure).toBeInstanceOf(InvalidRequestError);
  expect(failure).toMatchObject({ requestOutcome: 'not-sent', issues: [{ path: ['amount'] }] });
  expect(failure.message).toContain(says);
  expect(server.requests).toEqual([]);
});

it('a store refuses to create or record it', async () => {
  const server = await startRawServer({});
  const store = memoryStore({ client: createClient(server.url) });
  await expect(store.create(spoilt)).rejects.toThrow(says);
  await expect(store.record(spoilt, { tx: undefined })).rejects.toThrow(says);
  expect(await store.get(order.merchantPaymentReference)).toBeUndefined();
});

it('the mock takes it, as a service would', async () => {
  await using mock = await startMockServer();
  const answer = await fetch(`${mock.url}/api/payments`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${mock.apiKey}:${mock.apiSecret}`)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(spoilt),
  });
  expect(answer.status).toBe(201);
});
