import { webcrypto } from 'node:crypto';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/fetch/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { SECRET, sign } from '../receiver/adapter-contract/scene.js';

const URL = 'http://127.0.0.1/callbacks/payments';

type Options = CallbackReceiverOptions;

function createHandler(options: Partial<Options> = {}) {
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

function post(init: RequestInit & { duplex?: 'half' }): Request {
  return new Request(URL, { method: 'POST', ...init });
}

it('takes a Request and gives a Response without a body', async () => {
  const { handler, references } = createHandler();
  const { rawBody, headers } = sign({ referenceNumber: 'r-1' });
  const response = await handler(post({ headers, body: rawBody }));
  expect(response).toBeInstanceOf(Response);
  expect(response.status).toBe(200);
  expect(response.body).toBeNull();
  expect(references).toEqual(['r-1']);
});

it('sets the headers of the reply', async () => {
  const { handler } = createHandler();
  const response = await handler(new Request(URL));
  expect([...response.headers]).toEqual([['allow', 'POST']]);
});

it('takes a CryptoKey', async () => {
  const key = await webcrypto.subtle.importKey(
    'raw',
    Buffer.from(SECRET),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const { handler, references } = createHandler({ signingSecret: key });
  const { rawBody, headers } = sign();
  const response = await handler(post({ headers, body: rawBody }));
  expect(response.status).toBe(200);
  expect(references).toHaveLength(1);
});

it('gives 401 for a request without a body', async () => {
  const { handler, reported } = createHandler();
  expect((await handler(post({ headers: sign().headers }))).status).toBe(401);
  expect(reported).toEqual([]);
});

it('fails at once when the body was read, and says what to do', async () => {
  const { handler, references, reported } = createHandler();
  const { rawBody, headers } = sign();
  const request = post({ headers, body: rawBody });
  await request.json();
  const response = await handler(request);
  expect(response.status).toBe(500);
  expect(references).toEqual([]);
  expect(reported).toMatchObject([{ code: 'RAW_BODY_REQUIRED' }]);
  expect((reported[0] as Error).message).toContain('Pass the request on before anything reads it');
});

it('hands on the signal of the request', async () => {
  const controller = new AbortController();
  const { handler } = createHandler({
    onPayment(_callback, { signal }) {
      controller.abort(new Error('Gone'));
      signal.throwIfAborted();
    },
  });
  const { rawBody, headers } = sign();
  const { signal } = controller;
  const response = await handler(post({ headers, body: rawBody, signal }));
  expect(response.status).toBe(500);
});
