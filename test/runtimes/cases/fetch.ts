import type { VerifiedCallback } from 'merchant-payments/callback';
import { callbackHandler } from 'merchant-payments/fetch';
import type { CallbackReceiverOptions } from 'merchant-payments/receiver';
import { equal, isTrue } from './assert.js';
import type { CaseGroup } from './case.js';
import { NOW_SECONDS, recordText, SECRET, type SignedCallback, sign } from './signed-callback.js';

const URL = 'https://merchant.example/callbacks/payments';

function openScene(options: Partial<CallbackReceiverOptions> = {}) {
  const statuses: string[] = [];
  const reported: unknown[] = [];
  const rejected: string[] = [];
  const handle = callbackHandler({
    signingSecret: SECRET,
    now: () => NOW_SECONDS * 1000,
    onPayment: ({ payment }: VerifiedCallback) => void statuses.push(payment.status),
    onError: (error: unknown) => void reported.push((error as { code?: string }).code ?? 'other'),
    onRejected: ({ code }) => void rejected.push(code),
    ...options,
  });
  return { handle, statuses, reported, rejected };
}

function post({ rawBody, headers }: SignedCallback): Request {
  return new Request(URL, { method: 'POST', headers, body: rawBody });
}

async function answer(reply: Response | Promise<Response>, status: number): Promise<Response> {
  const response = await reply;
  equal(response.status, status, 'status');
  equal(await response.text(), '', 'body of the answer');
  return response;
}

export const fetchAdapter: CaseGroup = {
  name: 'fetch',
  cases: [
    {
      name: '200 for a payment, and for its duplicate, which is not processed again',
      async run() {
        const { handle, statuses, reported } = openScene();
        for (let delivery = 0; delivery < 3; delivery += 1) {
          await answer(handle(post(await sign())), 200);
        }
        equal([statuses, reported], [['paid'], []]);
      },
    },
    {
      name: '200 for a body received in pieces, cut inside a character',
      async run() {
        const { handle, statuses } = openScene();
        const { rawBody, headers } = await sign();
        const body = new ReadableStream({
          start(controller) {
            for (let index = 0; index < rawBody.length; index += 3) {
              controller.enqueue(rawBody.slice(index, index + 3));
            }
            controller.close();
          },
        });
        const init = { method: 'POST', headers, body, duplex: 'half' } as const;
        await answer(handle(new Request(URL, init)), 200);
        equal(statuses, ['paid']);
      },
    },
    {
      name: '401 for a tampered body, another secret, an old timestamp and no headers',
      async run() {
        const { handle, statuses, rejected, reported } = openScene();
        const { rawBody, headers } = await sign();
        const tampered = new TextEncoder().encode(recordText({ merchantPaymentReference: 'o-2' }));
        await answer(handle(post({ rawBody: tampered, headers })), 401);
        await answer(handle(post(await sign(recordText(), { secret: 'another' }))), 401);
        const timestamp = String(NOW_SECONDS - 301);
        await answer(handle(post(await sign(recordText(), { timestamp }))), 401);
        await answer(handle(post({ rawBody, headers: {} })), 401);
        await answer(handle(new Request(URL, { method: 'POST', headers })), 401);
        equal(statuses, []);
        equal(reported, []);
        equal(rejected, [
          'SIGNATURE_MISMATCH',
          'SIGNATURE_MISMATCH',
          'TIMESTAMP_OUTSIDE_WINDOW',
          'MISSING_TIMESTAMP',
          'SIGNATURE_MISMATCH',
        ]);
      },
    },
    {
      name: '413 for a body over the limit, which is not read to its end',
      async run() {
        const { handle, statuses } = openScene({ maxBodyBytes: 1_000 });
        const { headers } = await sign();
        let pulled = 0;
        const body = new ReadableStream({
          pull(controller) {
            pulled += 1;
            // An end, so that a handler that reads on can be seen to.
            if (pulled === 1_000) controller.close();
            else controller.enqueue(new Uint8Array(600));
          },
        });
        const init = { method: 'POST', headers, body, duplex: 'half' } as const;
        await answer(handle(new Request(URL, init)), 413);
        isTrue(pulled < 100, `a few pieces read, but ${pulled} were`);
        equal(statuses, []);
      },
    },
    {
      name: '503 and Retry-After while the same change is being processed',
      async run() {
        let finish = (): void => {};
        let begin = (): void => {};
        const begun = new Promise<void>((resolve) => {
          begin = resolve;
        });
        const { handle } = openScene({
          onPayment: () =>
            new Promise<void>((resolve) => {
              finish = resolve;
              begin();
            }),
        });
        const callback = await sign();
        const first = handle(post(callback));
        await begun;
        const second = await answer(handle(post(callback)), 503);
        isTrue(Number(second.headers.get('retry-after')) > 0, 'Retry-After');
        finish();
        await answer(first, 200);
        await answer(handle(post(callback)), 200);
      },
    },
    {
      name: '500 and the remedy when the body has already been read',
      async run() {
        const { handle, reported, statuses } = openScene();
        const request = post(await sign());
        await request.text();
        await answer(handle(request), 500);
        const locked = post(await sign());
        locked.body?.getReader();
        await answer(handle(locked), 500);
        // Once a minute.
        equal([reported, statuses], [['RAW_BODY_REQUIRED'], []]);
      },
    },
    {
      name: '408 for a body that stalls',
      async run() {
        const { handle } = openScene();
        const { headers } = await sign();
        const body = new ReadableStream({ pull: () => new Promise<void>(() => {}) });
        const init = { method: 'POST', headers, body, duplex: 'half' } as const;
        // The limit is 10 s.
        const { setTimeout } = globalThis;
        const hurry = (run: () => void, delayMs = 0) => setTimeout(run, delayMs / 500);
        Object.assign(globalThis, { setTimeout: hurry });
        try {
          await answer(handle(new Request(URL, init)), 408);
        } finally {
          Object.assign(globalThis, { setTimeout });
        }
      },
    },
    {
      name: 'tells onPayment by its signal when the client leaves',
      async run() {
        const controller = new AbortController();
        let wasAborted = false;
        const { handle } = openScene({
          onPayment(_callback, { signal }) {
            controller.abort();
            wasAborted = signal.aborted;
          },
        });
        const { rawBody, headers } = await sign();
        const { signal } = controller;
        await handle(new Request(URL, { method: 'POST', headers, body: rawBody, signal }));
        equal(wasAborted, true);
      },
    },
  ],
};
