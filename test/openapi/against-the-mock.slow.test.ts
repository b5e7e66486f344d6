import { afterAll, assert, describe, expect, test } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { ApiError, InvalidCredentialsError } from '../../src/errors.js';
import { type RequestFault, startMockServer } from '../../src/mock-server/index.js';
import { operations as known } from '../../src/protocol/operations.js';
import { createPayment, order, postPayment } from '../mock-server/merchant-client.js';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import {
  findAnswerDepartures,
  findComponentDepartures,
  findRequestDepartures,
  statusKeyOf,
  type WireAnswer,
  type WireMessage,
} from './conformance.js';
import { callbackOperation, operationAt } from './document.js';

const creation = operationAt(known['payments.create'].path, 'POST');
const callback = callbackOperation();

/** Which of the creation's `responses` the mock has answered with. */
const answered = new Set<string>();

function checkAnswer(answer: WireAnswer | undefined): void {
  assert(answer, 'no answer was recorded');
  answered.add(statusKeyOf(creation, answer.status));
  expect(findAnswerDepartures(creation, answer)).toEqual([]);
}

/** What a creation by the real client, and the mock's answer to it, are on the wire. */
async function recordCreation(
  fault?: RequestFault,
  { apiSecret }: { apiSecret?: string } = {},
): Promise<{ request: WireMessage; answer: WireAnswer; error: unknown }> {
  await using server = await startMockServer();
  if (fault !== undefined) server.faults.add(fault);
  let exchange: { request: WireMessage; answer: WireAnswer } | undefined;
  await using client = new PaymentClient({
    baseUrl: server.url,
    apiKey: server.apiKey,
    apiSecret: apiSecret ?? server.apiSecret,
    maxRetries: 0,
    async fetch(url, init) {
      const response = await fetch(url, init);
      const body = await response.clone().text();
      const { status } = response;
      exchange = {
        request: {
          headers: Object.fromEntries(new Headers(init?.headers)),
          body: String(init?.body),
        },
        answer: { status, headers: Object.fromEntries(response.headers), body },
      };
      return response;
    },
  });
  const error = await client.payments.create(order).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert(exchange, 'no request was recorded');
  return { ...exchange, error };
}

describe('a creation by the client', () => {
  test('is a request of the document, and its answer a success with the status record', async () => {
    const { request, answer } = await recordCreation();
    expect(findRequestDepartures(creation, request)).toEqual([]);
    checkAnswer(answer);
    // The document leaves the body open; the record is the mock's own choice.
    expect(findComponentDepartures('PaymentStatusRecord', JSON.parse(answer.body))).toEqual([]);
  });

  test('with a wrong secret is answered by the 401 of the document', async () => {
    const { answer, error } = await recordCreation(undefined, { apiSecret: 'another_secret' });
    expect(error).toBeInstanceOf(InvalidCredentialsError);
    expect(answer.status).toBe(401);
    checkAnswer(answer);
  });
});

test.each<RequestFault>([
  { on: 'request', type: 'late-answer', delayMs: 0 },
  { on: 'request', type: 'rate-limit' },
  { on: 'request', type: 'client-error', status: 422 },
  { on: 'request', type: 'server-error', status: 503 },
  { on: 'request', type: 'html-error' },
])('the mock’s answer with the fault $type is of the document', async (fault) => {
  const { answer, error } = await recordCreation(fault);
  checkAnswer(answer);
  expect(error === undefined || error instanceof ApiError).toBe(true);
});

describe('the mock’s own errors are the default answer of the document', () => {
  const requests: readonly [string, number, unknown, RequestInit][] = [
    ['a body that is not JSON', 400, '{', {}],
    ['a currency that is none', 400, { ...order, currency: 'euro' }, {}],
    ['another method', 405, undefined, { method: 'PUT', body: '{}' }],
    ['a body over the limit', 413, 'x'.repeat(1_048_577), {}],
  ];

  test.each(requests)('%s: %i', async (_name, status, body, init) => {
    await using server = await startMockServer();
    const answer = await postPayment(server, body, init);
    expect(answer.status).toBe(status);
    expect(statusKeyOf(creation, status)).toBe('default');
    const text = await answer.text();
    checkAnswer({ status, headers: Object.fromEntries(answer.headers), body: text });
    expect(Object.keys(JSON.parse(text))).toEqual(['code', 'message', 'requestId']);
  });
});

test.each(['hex', 'base64', 'base64url'] as const)(
  'the mock’s callback is the one of the document, signed in %s',
  async (signatureEncoding) => {
    await using endpoint = await startEndpoint();
    await using server = await startMockServer({ callbackUrl: endpoint.url, signatureEncoding });
    await server.setStatus(await createPayment(server), 'paid');
    const [received] = endpoint.received;
    assert(received, 'no callback was received');
    expect(received.method).toBe('POST');
    const { headers, rawBody } = received;
    expect(findRequestDepartures(callback, { headers, body: rawBody.toString() })).toEqual([]);
  },
);

afterAll(() => {
  // Otherwise the document describes an answer that nothing here has seen.
  expect(answered).toEqual(new Set(Object.keys(creation.responses)));
});
