import { webcrypto } from 'node:crypto';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/fetch/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { SECRET, sign } from '../receiver/adapter-contract/scene.js';

const URL = 'http://127.0.0.1/callbacks/payments';

function createHandler(options: Partial<CallbackReceiverOptions> = {}) {
  const references: string[] = [];
  const handler = callbackHandler({
    signingSecret: SECRET,
    onPayment: ({ payment }) => void references.push(payment.referenceNumber),
    onError: () => undefined,
    onRejected: () => undefined,
    ...options,
  });
  return { handler, references };
}

const post = (init: RequestInit): Request => new Request(URL, { method: 'POST', ...init });

it('takes a Request and gives a Response without a body, with the headers of the reply', async () => {
  const { handler, references } = createHandler();
  const { rawBody, headers } = sign({ referenceNumber: 'r-1' });
  const response = await handler(post({ headers, body: rawBody }));
  expect(response).toBeInstanceOf(Response);
  expect(response.status).toBe(200);
  expect(response.body).toBeNull();
  expect(references).toEqual(['r-1']);
  expect((await handler(post({ headers }))).status).toBe(401);
  expect([...(await handler(new Request(URL))).headers]).toEqual([['allow', 'POST']]);
});

it('takes a CryptoKey', async () => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = Buffer.from(SECRET);
  const key = await webcrypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  const { handler } = createHandler({ signingSecret: key });
  const { rawBody, headers } = sign();
  expect((await handler(post({ headers, body: rawBody }))).status).toBe(200);
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
