import { afterAll, assert, describe, expect, test } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { ApiError, InvalidCredentialsError } from '../../src/errors.js';
import {
  type CallbackFault,
  type Fault,
  type MockServer,
  type RequestFault,
  startMockServer,
} from '../../src/mock-server/index.js';
import { operations as known } from '../../src/protocol/operations.js';
import { createPayment, order, postPayment } from '../mock-server/merchant-client.js';
import { type ReceivedCallback, startEndpoint } from '../mock-server/merchant-endpoint.js';
import {
  findAnswerDepartures,
  findComponentDepartures,
  findRequestDepartures,
  statusKeyOf,
  type WireAnswer,
} from './conformance.js';
import { callbackOperation, operationAt } from './document.js';
import { type Exchange, startRecordingProxy } from './recording-proxy.js';

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
): Promise<{ exchange: Exchange; error: unknown }> {
  await using server = await startMockServer();
  if (fault !== undefined) server.faults.add(fault);
  await using proxy = await startRecordingProxy(server.url);
  await using client = new PaymentClient({
    baseUrl: proxy.url,
    apiKey: server.apiKey,
    apiSecret: apiSecret ?? server.apiSecret,
    maxRetries: 0,
  });
  const error = await client.payments.create(order).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const [exchange] = proxy.exchanges;
  assert(exchange, 'no request was recorded');
  return { exchange, error };
}

describe('a creation by the client', () => {
  test('is a request of the document, and its answer a success with the status record', async () => {
    const { exchange } = await recordCreation();
    const { request, answer } = exchange;
    expect(request).toMatchObject({ method: 'POST', path: known['payments.create'].path });
    expect(findRequestDepartures(operationAt(request.path, request.method), request)).toEqual([]);
    checkAnswer(answer);
    // The document leaves the body open; the record is the mock's own choice.
    expect(findComponentDepartures('PaymentStatusRecord', JSON.parse(answer?.body ?? ''))).toEqual(
      [],
    );
  });

  test('with a wrong secret is answered by the 401 of the document', async () => {
    const { exchange, error } = await recordCreation(undefined, { apiSecret: 'another_secret' });
    expect(error).toBeInstanceOf(InvalidCredentialsError);
    expect(exchange.answer?.status).toBe(401);
    checkAnswer(exchange.answer);
  });
});

type Remains = 'well-formed' | 'damaged' | 'none';

/** What each fault leaves of an answer; the compiler keeps it complete. */
const answerFaults: Record<RequestFault['type'], readonly [RequestFault, Remains]> = {
  delay: [{ on: 'request', type: 'delay', delayMs: 0 }, 'well-formed'],
  'late-answer': [{ on: 'request', type: 'late-answer', delayMs: 0 }, 'well-formed'],
  unauthorized: [{ on: 'request', type: 'unauthorized' }, 'well-formed'],
  'rate-limit': [{ on: 'request', type: 'rate-limit' }, 'well-formed'],
  'client-error': [{ on: 'request', type: 'client-error', status: 422 }, 'well-formed'],
  'server-error': [{ on: 'request', type: 'server-error', status: 503 }, 'well-formed'],
  'html-error': [{ on: 'request', type: 'html-error' }, 'well-formed'],
  'empty-body': [{ on: 'request', type: 'empty-body' }, 'damaged'],
  'malformed-json': [{ on: 'request', type: 'malformed-json' }, 'damaged'],
  'truncated-body': [{ on: 'request', type: 'truncated-body' }, 'none'],
  'reset-in-body': [{ on: 'request', type: 'reset-in-body' }, 'none'],
  'reset-before-headers': [{ on: 'request', type: 'reset-before-headers' }, 'none'],
  'lost-answer': [{ on: 'request', type: 'lost-answer' }, 'none'],
  hang: [{ on: 'request', type: 'hang' }, 'none'],
};

describe('the mock’s answer with a fault', () => {
  const all = Object.values(answerFaults);
  const wellFormed = all.filter(([, left]) => left === 'well-formed');
  const damaged = all.filter(([, left]) => left === 'damaged');

  test.each(wellFormed)('is of the document: $type', async (fault) => {
    const { exchange, error } = await recordCreation(fault);
    checkAnswer(exchange.answer);
    expect(error === undefined || error instanceof ApiError).toBe(true);
  });

  test.each(damaged)('is seen to depart from the document: $type', async (fault) => {
    const { exchange } = await recordCreation(fault);
    expect(exchange.answer && findAnswerDepartures(creation, exchange.answer)).toEqual([
      'the body is not JSON',
    ]);
  });
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

/** What the service sends on a change of status, with one fault at most. */
async function recordCallbacks(
  fault?: CallbackFault,
  options: Parameters<typeof startMockServer>[0] = {},
): Promise<readonly ReceivedCallback[]> {
  await using endpoint = await startEndpoint();
  await using server: MockServer = await startMockServer({
    callbackUrl: endpoint.url,
    retryScheduleMs: [0],
    ...options,
  });
  if (fault !== undefined) server.faults.add(fault satisfies Fault);
  const referenceNumber = await createPayment(server);
  const isHeldBack = fault?.type === 'reorder';
  for (const status of isHeldBack ? ['authorized', 'paid'] : ['paid']) {
    await server.setStatus(referenceNumber, status);
  }
  const isRepeated = isHeldBack || fault?.type === 'duplicate';
  await endpoint.waitFor(isRepeated ? 2 : 1);
  expect(server.faults.pending()).toEqual([]);
  return endpoint.received;
}

const checkCallbacks = (received: readonly ReceivedCallback[]) =>
  received.flatMap(({ headers, rawBody }) =>
    findRequestDepartures(callback, { headers, body: rawBody.toString() }),
  );

/** Where the callbacks depart from the document with each fault; the compiler keeps it complete. */
const callbackFaults: Record<CallbackFault['type'], readonly string[]> = {
  duplicate: [],
  reorder: [],
  drop: [],
  'tampered-body': [],
  'wrong-secret': [],
};

describe('the mock’s callback', () => {
  test.each(['hex', 'base64', 'base64url'] as const)(
    'is the one of the document, signed in %s',
    async (signatureEncoding) => {
      const received = await recordCallbacks(undefined, { signatureEncoding });
      expect(received.map(({ method }) => method)).toEqual(['POST']);
      expect(checkCallbacks(received)).toEqual([]);
    },
  );

  test.each(Object.entries(callbackFaults))('with a fault: %s', async (type, departures) => {
    const received = await recordCallbacks({ on: 'callback', type } as CallbackFault);
    expect(checkCallbacks(received)).toEqual(departures);
  });
});

afterAll(() => {
  // Otherwise the document describes an answer that nothing here has seen.
  expect(answered).toEqual(new Set(Object.keys(creation.responses)));
});
