import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { callbackHandler, type LambdaEvent } from '../../src/lambda/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { pairwise } from '../pairwise.js';
import { badRequests } from '../receiver/adapter-contract/bad-requests.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import { type MakeServer, PATH, SECRET, sign } from '../receiver/adapter-contract/scene.js';
import {
  makeAlbEvent,
  makeAlbMultiValueEvent,
  makeHttpApiEvent,
  makeRestApiEvent,
} from './events.js';

type ToEvent = (request: IncomingMessage, body: Buffer, base64?: boolean) => LambdaEvent;

const gateways: [name: string, toEvent: ToEvent][] = [
  ['a REST API', makeRestApiEvent],
  ['an HTTP API or a function URL', makeHttpApiEvent],
  ['an ALB', makeAlbEvent],
  ['an ALB with multi-value headers', makeAlbMultiValueEvent],
];

/** What AWS puts before the function, on loopback. */
const behind =
  (toEvent: ToEvent, base64: boolean): MakeServer =>
  (options) => {
    const handler = callbackHandler(options);
    return createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const event = toEvent(request, Buffer.concat(chunks), base64);
      const { statusCode, headers, multiValueHeaders, body } = await handler(event);
      response.writeHead(statusCode, event.headers ? headers : multiValueHeaders).end(body);
    });
  };

const bodies = ['text', 'base64'];
const tried = pairwise([badRequests, gateways.map(([name]) => name), bodies]);

describe.each(gateways)('behind %s', (name, toEvent) => {
  for (const body of bodies) {
    const isBase64 = body === 'base64';
    describeReplies(`a function behind ${name}, body in ${body}`, behind(toEvent, isBase64), {
      behindLastValue: toEvent === makeAlbEvent,
      behindText: !isBase64,
      only: tried.filter(([, at, as]) => at === name && as === body).map(([what]) => what),
    });
  }
});

function createHandler(options: Partial<CallbackReceiverOptions> = {}) {
  const references: string[] = [];
  const reported: unknown[] = [];
  const handler = callbackHandler({
    signingSecret: SECRET,
    onPayment: ({ payment }) => void references.push(payment.referenceNumber),
    onError: (error) => void reported.push(error),
    onRejected: () => undefined,
    ...options,
  });
  return { handler, references, reported };
}

function makeEvent(event: Partial<LambdaEvent> = {}): LambdaEvent {
  const { rawBody, headers } = sign();
  return { httpMethod: 'POST', headers, body: Buffer.from(rawBody).toString(), ...event };
}

it('answers what every gateway takes, whatever the path: routing is up to the gateway', async () => {
  const { handler } = createHandler();
  const event = { ...makeEvent(), path: `${PATH}/other` };
  expect(await handler(event)).toEqual({ statusCode: 200, headers: {}, body: '' });
  expect(await handler(makeEvent({ httpMethod: 'GET' }))).toEqual({
    statusCode: 405,
    headers: { allow: 'POST' },
    body: '',
  });
});

it('answers an ALB with multi-value headers in lists, which are all it reads', async () => {
  const { handler } = createHandler();
  const event = { ...makeEvent({ httpMethod: 'GET' }), headers: undefined, multiValueHeaders: {} };
  expect(await handler(event)).toEqual({
    statusCode: 405,
    headers: { allow: 'POST' },
    multiValueHeaders: { allow: ['POST'] },
    body: '',
  });
});

it('takes the lists where there are both, so that a second signature is seen', async () => {
  const { handler, references } = createHandler();
  const event = makeEvent();
  const lists = Object.fromEntries(
    Object.entries(event.headers ?? {}).map(([name, value]) => [name, [value ?? '']]),
  );
  const signature = event.headers?.['x-signature'] ?? '';
  const multiValueHeaders = { ...lists, 'x-signature': ['0'.repeat(64), signature] };
  expect(await handler({ ...event, multiValueHeaders })).toMatchObject({ statusCode: 401 });
  expect(references).toEqual([]);
  expect(await handler({ ...event, multiValueHeaders: lists })).toMatchObject({ statusCode: 200 });
});

it.each([[{}], [null], [undefined]])('takes headers where the lists are %o', async (none) => {
  const { handler } = createHandler();
  const event = makeEvent({ multiValueHeaders: none });
  expect(await handler(event)).toMatchObject({ statusCode: 200 });
});

it.each<[string, Partial<LambdaEvent>]>([
  ['null headers', { headers: null, multiValueHeaders: null }],
  ['no headers', { headers: undefined }],
  ['a null body', { body: null }],
  ['no body', { body: undefined, isBase64Encoded: true }],
  ['base64 that is none', { isBase64Encoded: true }],
])('answers 401 for an event with %s', async (_name, event) => {
  const { handler, reported } = createHandler();
  expect(await handler(makeEvent(event))).toMatchObject({ statusCode: 401, body: '' });
  expect(reported).toEqual([]);
});

it.each<[unknown, boolean]>([
  [true, true],
  ['True', true],
  ['False', false],
  [undefined, false],
])('reads isBase64Encoded: %o as %s', async (isBase64Encoded, isBase64) => {
  const { handler } = createHandler();
  const event = makeEvent();
  const body = isBase64 ? Buffer.from(event.body ?? '').toString('base64') : event.body;
  const given = { ...event, body, isBase64Encoded: isBase64Encoded as boolean };
  expect(await handler(given)).toMatchObject({ statusCode: 200 });
});

it('fails at once for a parsed body, and says what to do', async () => {
  const { handler, references, reported } = createHandler();
  const { body, ...event } = makeEvent();
  const parsed = { ...event, body: JSON.parse(body ?? '') };
  expect(await handler(parsed)).toMatchObject({ statusCode: 500 });
  expect(references).toEqual([]);
  const message = expect.stringContaining('leave httpJsonBodyParser out of this function');
  expect(reported).toMatchObject([{ code: 'RAW_BODY_REQUIRED', message }]);
});

describe('the time that the function has left', () => {
  async function timeLimitOf(remainingMs: number, onPaymentTimeoutMs?: number): Promise<string> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { handler, reported } = createHandler({
      onPaymentTimeoutMs,
      onPayment: (_callback, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const answer = handler(makeEvent(), { getRemainingTimeInMillis: () => remainingMs });
    // Until the work has begun.
    while (vi.getTimerCount() < 2) await new Promise(setImmediate);
    await vi.advanceTimersToNextTimerAsync();
    expect((await answer).statusCode).toBe(500);
    await handler.idle();
    expect(reported).toMatchObject([{ code: 'WORK_TIMEOUT' }]);
    return (reported[0] as Error).message;
  }

  it.each([
    [3_000, undefined, "2500 ms (the function's own time limit)"],
    [10_000, undefined, "9000 ms (the function's own time limit)"],
    [200, undefined, "1 ms (the function's own time limit)"],
    [900_000, undefined, '60000 ms (onPaymentTimeoutMs)'],
    [10_000, 100, '100 ms (onPaymentTimeoutMs)'],
  ])('of %s ms bounds onPaymentTimeoutMs %s', async (remainingMs, timeoutMs, limit) => {
    expect(await timeLimitOf(remainingMs, timeoutMs)).toContain(`within ${limit}`);
  });

  it.each([
    [3_000, 2_800],
    [100_000, 96_000],
  ])(
    'of %i ms is enough to answer 500 after %i ms, though the store hangs',
    async (remainingMs, answeredMs) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const { handler } = createHandler({
        store: { process: () => new Promise(() => undefined) },
      });
      const answer = vi.fn();
      const context = { getRemainingTimeInMillis: () => remainingMs };
      void handler(makeEvent(), context).then(answer);
      await vi.advanceTimersByTimeAsync(answeredMs - 1);
      expect(answer).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(answer).toHaveBeenCalledExactlyOnceWith({ statusCode: 500, headers: {}, body: '' });
    },
  );

  it.each([undefined, {}, null, { getRemainingTimeInMillis: () => Number.NaN }])(
    'is not needed, nor is a context that has it: %o',
    async (context) => {
      const { handler } = createHandler();
      expect((await handler(makeEvent(), context as never)).statusCode).toBe(200);
    },
  );
});
