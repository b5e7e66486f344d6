import { describe, expect, it, vi } from 'vitest';
import { RetryLaterError } from '../../../src/errors.js';
import type { SignedCallback } from '../../../src/testing/sign-callback.js';
import { type BadRequestOptions, describeBadRequests } from './bad-requests.js';
import { deliver, type MakeServer, openScene, SECRET, sign } from './scene.js';

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';

interface ReplyOptions extends BadRequestOptions {
  /** Whether something before the adapter hands on but the last value of a header. */
  readonly behindLastValue?: boolean;
}

/** What every adapter answers, whatever it is mounted in. */
export function describeReplies(
  name: string,
  makeServer: MakeServer,
  options: ReplyOptions = {},
): void {
  const { behindLastValue = false } = options;
  describeBadRequests(name, makeServer, options);

  describe(`the replies of ${name}`, () => {
    it('are 200 for a change and for the same change again, which is processed once', async () => {
      const scene = await openScene(makeServer);
      const payment = { referenceNumber: 'r-1', updatedAt: '2026-01-31T12:00:00+00:00' };
      const first = await deliver(scene, sign(payment));
      const { callbacks } = scene;
      expect(callbacks[0]?.payment.referenceNumber).toBe('r-1');
      const again = await deliver(scene, sign(callbacks[0]?.payment));
      for (const reply of [first, again]) {
        expect(reply).toMatchObject({ status: 200, body: '' });
        expect(reply.headers).not.toHaveProperty('content-type');
      }
      expect(callbacks).toHaveLength(1);
      expect(scene.reported).toEqual([]);
    });

    it('are 200 for text beyond ASCII, in chunks or with its length', async () => {
      const scene = await openScene(makeServer);
      const merchantPaymentReference = 'Zażółć-€-🧾-\u{10FFFF}';
      for (const chunked of [true, false]) {
        const callback = sign({ merchantPaymentReference });
        expect(await deliver(scene, { ...callback, chunked })).toMatchObject({ status: 200 });
      }
      expect(scene.callbacks.map(({ payment }) => payment.merchantPaymentReference)).toEqual([
        merchantPaymentReference,
        merchantPaymentReference,
      ]);
    });

    it.skipIf(behindLastValue)('are 401 for a signed header that is given twice', async () => {
      const scene = await openScene(makeServer);
      for (const request of repeatHeaders(sign())) {
        expect(await deliver(scene, request)).toMatchObject({ status: 401, body: '' });
      }
      expect(scene.callbacks).toEqual([]);
      expect(scene.reported).toEqual([]);
    });

    it('say the code and the reason with explainAnswers, of what was not processed', async () => {
      const scene = await openScene(makeServer, { explainAnswers: true, onRejected: () => {} });
      const refused = await deliver(scene, sign({}, { signingSecret: 'another' }));
      expect(refused.status).toBe(401);
      expect(refused.headers['content-type']).toContain('application/json');
      expect(JSON.parse(refused.body)).toEqual({
        code: 'SIGNATURE_MISMATCH',
        message: expect.stringContaining('X-Signature does not match'),
      });
      expect(await deliver(scene, sign())).toMatchObject({ status: 200, body: '' });
    });

    it('are 413 for a body beyond the limit, counted in bytes', async () => {
      const callback = sign({ merchantPaymentReference: '€'.repeat(100) });
      const bytes = callback.rawBody.length;
      for (const [maxBodyBytes, status] of [
        [bytes - 1, 413],
        [bytes, 200],
        [bytes + 1, 200],
      ] as const) {
        const scene = await openScene(makeServer, { maxBodyBytes });
        for (const chunked of [true, false]) {
          const reply = await deliver(scene, { ...callback, chunked });
          expect(reply, `${bytes} bytes of ${maxBodyBytes}`).toMatchObject({ status, body: '' });
        }
        expect(scene.callbacks).toHaveLength(status === 200 ? 1 : 0);
        expect(scene.reported).toEqual([]);
      }
    });

    it('are 500 when onPayment throws, and 200 on the retry', async () => {
      const failure = new Error('The database is away');
      const scene = await openScene(makeServer, {
        onPayment() {
          if (scene.callbacks.length === 1) throw failure;
        },
      });
      const callback = sign();
      expect(await deliver(scene, callback)).toMatchObject({ status: 500, body: '' });
      expect(scene.reported).toEqual([{ error: failure, callback: scene.callbacks[0] }]);
      expect(await deliver(scene, callback)).toMatchObject({ status: 200, body: '' });
      expect(scene.callbacks).toHaveLength(2);
      expect(scene.reported).toHaveLength(1);
    });

    it('are 500 without a signing secret, until the environment has one', async () => {
      const scene = await openScene(makeServer, { signingSecret: undefined });
      const callback = sign();
      for (const missing of [undefined, '', ' ']) {
        vi.stubEnv(VARIABLE, missing);
        expect(await deliver(scene, callback)).toMatchObject({ status: 500, body: '' });
      }
      expect(scene.callbacks).toEqual([]);
      const error = {
        code: 'INVALID_OPTION',
        option: 'signingSecret',
        message: expect.stringContaining(
          `set ${VARIABLE} in the environment, or pass signingSecret`,
        ),
      };
      // Any stranger can cause it, so once a minute.
      expect(scene.reported).toMatchObject([{ error }]);
      vi.stubEnv(VARIABLE, SECRET);
      expect(await deliver(scene, callback)).toMatchObject({ status: 200 });
      // It is read once.
      vi.stubEnv(VARIABLE, undefined);
      expect(await deliver(scene, callback)).toMatchObject({ status: 200 });
      expect(await deliver(scene, { rawBody: '{}', headers: callback.headers })).toMatchObject({
        status: 401,
      });
      expect(scene.reported).toHaveLength(1);
    });

    it('are 503 with Retry-After when onPayment asks for a retry, which is not reported', async () => {
      const scene = await openScene(makeServer, {
        onPayment() {
          if (scene.callbacks.length === 1) {
            throw new RetryLaterError('The order is not stored yet', { retryAfterSeconds: 7 });
          }
        },
      });
      const callback = sign();
      const first = await deliver(scene, callback);
      expect(first).toMatchObject({ status: 503, body: '', headers: { 'retry-after': '7' } });
      expect(await deliver(scene, callback)).toMatchObject({ status: 200 });
      expect(scene.callbacks).toHaveLength(2);
      expect(scene.reported).toEqual([]);
    });
  });
}

/** Requests with a signed header given twice: which of the two was meant? */
function repeatHeaders({ rawBody, headers }: SignedCallback) {
  const { 'x-timestamp': timestamp = '', 'x-signature': signature = '' } = headers;
  const repeated = [
    { 'x-signature': [signature, signature] },
    { 'x-signature': ['0'.repeat(64), signature] },
    { 'x-timestamp': [timestamp, timestamp] },
  ];
  return repeated.map((twice) => ({ rawBody, headers: { ...headers, ...twice } }));
}
