import { describe, expect, it, onTestFinished } from 'vitest';
import type { PaymentClientOptions } from '../../src/client/options.js';
import { ResponseError } from '../../src/errors.js';
import { startMockServer } from '../../src/mock-server/server.js';
import { memoryStore } from '../../src/store/memory.js';
import { createClient, failureOf, order, startRawServer, withoutJitter } from './raw-server.js';

/** A mock whose first answers are pages with status 200, as of a firewall, a portal or a maintenance notice. */
async function startBehindPage(options: Partial<PaymentClientOptions> = {}) {
  const mock = await startMockServer();
  onTestFinished(() => mock.close());
  mock.faults.add({ on: 'request', type: 'html-error', status: 200 });
  const { url, apiKey, apiSecret } = mock;
  return { mock, client: createClient(url, { apiKey, apiSecret, ...options }) };
}

describe('a page in place of the answer to a creation', () => {
  it('leaves the outcome unknown, is not retried, and the error has the page', async () => {
    const { mock, client } = await startBehindPage();
    const failure = await failureOf(client.payments.create(order));
    expect(failure).toMatchObject({
      code: 'RESPONSE_UNUSABLE',
      requestOutcome: 'unknown',
      safeToRetry: false,
      response: { status: 200, text: expect.stringContaining('<html>') },
    });
    expect(failure).toBeInstanceOf(ResponseError);
    expect(failure.message).toMatch(
      /a page of HTML; check baseUrl.* do not send it again; wait for its/,
    );
    expect(mock.requests).toHaveLength(1);
  });

  it('is retried where unknown outcomes are', async () => {
    withoutJitter();
    const { client } = await startBehindPage({ idempotency: 'merchantPaymentReference' });
    const { payment, response } = await client.payments.create(order);
    expect(response).toMatchObject({ status: 201, attempts: 2 });
    expect(payment.merchantPaymentReference).toBe(order.merchantPaymentReference);
  });

  it('is unresolved in a store, which sends nothing again', async () => {
    const { mock, client } = await startBehindPage();
    const store = memoryStore({ client });
    const stored = await store.create(order);
    expect(stored).toMatchObject({
      state: 'unresolved',
      failure: { code: 'RESPONSE_UNUSABLE', requestOutcome: 'unknown' },
    });
    expect(await store.create(order)).toMatchObject({ state: 'unresolved', replayed: true });
    expect(mock.requests).toHaveLength(1);
  });
});

it('request() returns a page', async () => {
  const { client } = await startBehindPage();
  const { status, body } = await client.request({
    method: 'POST',
    path: '/api/payments',
    body: order,
  });
  expect(status).toBe(200);
  expect(body).toContain('<html>');
});

it('a body that names HTML, looks like JSON and is cut off is an answer of the service', async () => {
  const head = 'HTTP/1.1 201 Created\r\ncontent-type: text/html\r\ncontent-length: 99\r\n\r\n';
  const server = await startRawServer({
    answer({ socket }) {
      socket.end(`${head}{"referenceNumber":`);
      return undefined;
    },
  });
  const failure = await failureOf(createClient(server.url).payments.create(order));
  expect(failure).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
});
