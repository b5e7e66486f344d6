import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { callbackKey, prepareSecrets } from '../../src/callback/verify.js';
import {
  InvalidOptionError,
  type MerchantPaymentsError,
  RetryLaterError,
} from '../../src/errors.js';
import type { StandardSchemaV1 } from '../../src/protocol/standard-schema.js';
import {
  createCallbackReceiver,
  type ReceivedRequest,
} from '../../src/receiver/callback-receiver.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { createReceiver } from '../../src/receiver/receiver.js';
import type { CallbackStore, ChangeOutcome, ChangeResult } from '../../src/store/callback-store.js';
import { schemaOf } from '../callback/contract/record-schema.js';
import {
  NOW_SECONDS,
  now,
  OTHER_SECRET,
  SECRET,
  sampleRecord,
} from '../callback/sample-callback.js';
import { waitFor } from '../wait-for.js';
import { contextOf, createGate, createScene, post, postBody } from './scene.js';

const processed = { status: 200, headers: {}, outcome: 'processed' };
const duplicate = { status: 200, headers: {}, outcome: 'duplicate' };
const busy = { status: 503, headers: { 'retry-after': '1' }, outcome: 'busy' };
const failed = { status: 500, headers: {}, outcome: 'failed' };
const rejected = (status: number) => ({ status, headers: {}, outcome: 'rejected' });

const codeOf = (error: unknown) => (error as MerchantPaymentsError).code;

describe('a callback that is right', () => {
  it('is handed to onPayment, then acknowledged', async () => {
    const scene = createScene();
    expect(await scene.receive(post())).toEqual(processed);
    expect(scene.handled).toEqual([
      {
        payment: sampleRecord(),
        key: callbackKey(sampleRecord()),
        timestamp: new Date(NOW_SECONDS * 1000),
        secretIndex: 0,
        rawBody: new TextEncoder().encode(JSON.stringify(sampleRecord())),
      },
    ]);
    expect(scene.reports).toEqual([]);
  });

  it('is acknowledged only when onPayment is done', async () => {
    const gate = createGate();
    const scene = createScene({ onPayment: () => gate.opened });
    let settled = false;
    const reply = scene.receive(post()).finally(() => {
      settled = true;
    });
    await waitFor(() => expect(scene.handled).toHaveLength(1));
    expect(settled).toBe(false);
    gate.open();
    expect(await reply).toEqual(processed);
  });

  it.each([undefined, null, 'text', 0])('fails when onPayment rejects with %s', async (reason) => {
    const scene = createScene({ onPayment: () => Promise.reject(reason) });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.reports.map(({ error }) => error)).toEqual([reason]);
  });
});

describe('the order of changes', () => {
  const at = (time: string, status: string) => post({ updatedAt: time, status });
  const older = '2026-01-31T12:00:01+00:00';
  const newer = '2026-01-31T12:00:02+00:00';

  it('processes an older change too, and says that it is not current', async () => {
    const seen: [string, boolean][] = [];
    const scene = createScene({
      onPayment: ({ payment }, { current }) => void seen.push([payment.status, current]),
    });
    await scene.receive(at(newer, 'settled'));
    expect(await scene.receive(at(older, 'paid'))).toEqual(processed);
    expect(await scene.receive(at(older, 'paid'))).toEqual(duplicate);
    expect(seen).toEqual([
      ['settled', true],
      ['paid', false],
    ]);
    expect(scene.reports).toEqual([]);
  });

  it.each([
    [{}, { current: true, secondPayment: false }],
    [{ current: false }, { current: false, secondPayment: false }],
  ])('is current with a store that does not say otherwise: %o', async (said, seen) => {
    const contexts: unknown[] = [];
    const { signal } = new AbortController();
    const old: CallbackStore = {
      async process(_change, work) {
        await work({ tx: undefined, signal, ...said } as never);
        return { outcome: 'processed' };
      },
    };
    const scene = createScene({
      store: old,
      onPayment: (_, context) => void contexts.push(context),
    });
    await scene.receive(post());
    expect(contexts).toMatchObject([seen]);
  });
});

describe('a request that is refused', () => {
  it('recognises POST in lower case, as some frameworks write it', async () => {
    expect(await createScene().receive({ ...post(), method: 'post' })).toEqual(processed);
  });

  it('is not answered with 422 when it is neither a status record nor authentic', async () => {
    const scene = createScene();
    expect(await scene.receive(postBody('{}', { secret: OTHER_SECRET }))).toEqual(rejected(401));
  });

  it.each([
    ['bytes', (size: number) => new Uint8Array(size)],
    ['text', (size: number) => 'x'.repeat(size)],
    ['text of two-byte characters', (size: number) => 'é'.repeat(size / 2)],
    [
      'text of three-byte characters',
      (size: number) => `${'€'.repeat(size / 3)}${'x'.repeat(size % 3)}`,
    ],
    [
      'text of four-byte characters',
      (size: number) => `${'😀'.repeat(size / 4)}${'x'.repeat(size % 4)}`,
    ],
    ['an ArrayBuffer', (size: number) => new ArrayBuffer(size)],
  ])('is answered 413 beyond maxBodyBytes, counted in bytes of %s', async (_, create) => {
    const scene = createScene({ maxBodyBytes: 1200 });
    const fits = { ...post(), rawBody: create(1200) };
    expect(await scene.receive(fits)).toEqual(rejected(401));
    const tooLarge = createScene({ maxBodyBytes: 1199 });
    expect(await tooLarge.receive(fits)).toEqual(rejected(413));
    expect(tooLarge.reports).toEqual([]);
  });

  it('fails when its body was parsed, and onError receives the remedy', async () => {
    const scene = createScene();
    const request = { ...post(), rawBody: sampleRecord() as unknown as string };
    expect(await scene.receive(request)).toEqual(failed);
    expect(scene.reports).toHaveLength(1);
    expect(codeOf(scene.reports[0]?.error)).toBe('RAW_BODY_REQUIRED');
    expect(String(scene.reports[0]?.error)).toContain('express.raw');
  });

  it('rejects when it is no object, which only a programmer can send', async () => {
    await expect(createScene().receive(undefined as never)).rejects.toMatchObject({
      name: 'InvalidOptionError',
      option: 'request',
      message: 'request is missing; it must be an object with method, headers and rawBody',
    });
  });
});

describe('the headers of a request', () => {
  const unsigned: [string, object, string][] = [
    ['neither header', {}, 'MISSING_TIMESTAMP'],
    ['no signature', { 'x-timestamp': String(NOW_SECONDS) }, 'MISSING_SIGNATURE'],
    [
      'an old timestamp',
      post({}, { timestamp: String(NOW_SECONDS - 301) }).headers,
      'TIMESTAMP_OUTSIDE_WINDOW',
    ],
    ['no digest', { 'x-timestamp': String(NOW_SECONDS), 'x-signature': 'x' }, 'INVALID_SIGNATURE'],
  ];

  it.each(unsigned)('are refused with %s before the body is read', async (_what, headers, code) => {
    const reasons: string[] = [];
    const readBody = vi.fn(() => ['']);
    const signingSecret = vi.fn(() => SECRET);
    const { receive } = createReceiver(
      { signingSecret, now, onPayment() {}, onRejected: (error) => void reasons.push(error.code) },
      prepareSecrets,
    );
    const reply = await receive({ method: 'POST', headers: headers as never, readBody });
    expect(reply).toEqual({ status: 401, headers: {}, outcome: 'rejected' });
    expect(reasons).toEqual([code]);
    expect(readBody).not.toHaveBeenCalled();
    expect(signingSecret).not.toHaveBeenCalled();
  });
});

describe('what any request shows', () => {
  const shown: [string, Partial<CallbackReceiverOptions>, ReceivedRequest, string][] = [
    [
      'a body that was parsed',
      {},
      { ...post(), rawBody: sampleRecord() as never },
      'RAW_BODY_REQUIRED',
    ],
    ['a secret that is missing', { signingSecret: () => '' }, post(), 'INVALID_OPTION'],
    [
      'a secret store that fails',
      { signingSecret: () => Promise.reject(new Error('sealed')) },
      post(),
      'SECRET_UNAVAILABLE',
    ],
  ];

  it.each(shown)('is reported once a minute: %s', async (_what, options, request, code) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const scene = createScene(options);
    for (let count = 0; count < 3; count += 1) expect(await scene.receive(request)).toEqual(failed);
    expect(scene.reports).toMatchObject([{ error: { code } }]);
    vi.advanceTimersByTime(60_000);
    await scene.receive(request);
    expect(scene.reports).toHaveLength(2);
  });

  it('does not silence what an authentic callback shows', async () => {
    const recordSchema = schemaOf(() => {
      throw new InvalidOptionError('schema', 'a bug in the schema');
    });
    const scene = createScene({ recordSchema });
    for (let count = 0; count < 3; count += 1) await scene.receive(post());
    expect(scene.reports).toHaveLength(3);
  });
});

describe('signingSecret as a function', () => {
  it('is asked for every callback, so that a secret can change without a restart', async () => {
    const secrets = [SECRET, OTHER_SECRET];
    const scene = createScene({ signingSecret: () => secrets.shift() ?? '' });
    expect((await scene.receive(post({ status: 'a' }))).status).toBe(200);
    expect((await scene.receive(post({ status: 'b' }))).status).toBe(401);
    expect((await scene.receive(post({ status: 'c' }))).status).toBe(500);
  });

  it('may be asynchronous and give several', async () => {
    const scene = createScene({ signingSecret: async () => [OTHER_SECRET, SECRET] });
    expect(await scene.receive(post())).toEqual(processed);
    expect(scene.handled[0]?.secretIndex).toBe(1);
  });

  it('is not asked for a request of another method or with too large a body', async () => {
    const signingSecret = vi.fn(() => SECRET);
    const scene = createScene({ signingSecret, maxBodyBytes: 10 });
    await scene.receive({ ...post(), method: 'GET' });
    await scene.receive(post());
    expect(signingSecret).not.toHaveBeenCalled();
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the vault is sealed');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the vault is sealed'))],
    ['gives a blank', () => ' '],
  ])('fails when it %s, and onError is called', async (_, signingSecret) => {
    const scene = createScene({ signingSecret });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.reports).toHaveLength(1);
    expect(scene.handled).toEqual([]);
  });
});

describe('signingSecret as a function', () => {
  it('has ten seconds for its secret store', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let hangs = false;
    const onError = vi.fn();
    const receiver = createCallbackReceiver({
      signingSecret: () => (hangs ? new Promise<string>(() => {}) : SECRET),
      onPayment() {},
      now: () => NOW_SECONDS * 1000,
      onError,
    });
    expect(await receiver.receive(post())).toEqual(processed);
    hangs = true;
    const reply = receiver.receive(post({ status: 'next' }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await reply).toEqual(failed);
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ code: 'SECRET_UNAVAILABLE', option: 'signingSecret' }),
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['ECONNREFUSED', 'signingSecret failed (ECONNREFUSED)'],
    [SECRET, 'signingSecret failed (Error)'],
  ])('names the failure %s of its secret store, unless it may be a secret', async (code, says) => {
    const onError = vi.fn();
    const signingSecret = () => {
      throw Object.assign(new Error(SECRET), { code });
    };
    const receiver = createCallbackReceiver({ signingSecret, now, onPayment() {}, onError });
    expect(await receiver.receive(post())).toEqual(failed);
    const [error] = onError.mock.lastCall as [Error];
    expect(error.message).toContain(says);
    expect(inspect(error, { showHidden: true })).not.toContain(SECRET);
  });
});

describe('recordSchema', () => {
  it('answers 422 for a record that it refuses', async () => {
    const scene = createScene({ recordSchema: z.object({ status: z.literal('paid') }) });
    expect(await scene.receive(post())).toEqual(processed);
    expect(await scene.receive(post({ status: 'other' }))).toEqual(rejected(422));
    expect(scene.reports).toMatchObject([{ error: { code: 'INVALID_RECORD' } }]);
  });

  it('may be asynchronous', async () => {
    const recordSchema = z.object({ status: z.string().refine(async (text) => text === 'paid') });
    const scene = createScene({ recordSchema });
    expect(await scene.receive(post())).toEqual(processed);
    expect(await scene.receive(post({ status: 'other' }))).toEqual(rejected(422));
  });

  it('fails when it gives no result within ten seconds', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const hanging = { version: 1, vendor: 'test', validate: () => new Promise<never>(() => {}) };
    const scene = createScene({ recordSchema: { '~standard': hanging } as never });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(9_999);
    expect(scene.reports).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reply).toEqual(failed);
    expect(scene.reports).toMatchObject([
      { error: { option: 'recordSchema', message: expect.stringContaining('within 10000 ms') } },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the store', () => {
  const answering = (answer: () => Promise<ChangeResult>): CallbackStore => ({ process: answer });

  it.each([
    ['processed', processed],
    ['duplicate', duplicate],
    ['busy', busy],
  ] as const)('decides the reply: %s', async (outcome, reply) => {
    const store: CallbackStore = {
      async process(_change, work) {
        if (outcome === 'processed') await work(contextOf());
        return { outcome };
      },
    };
    const scene = createScene({ store });
    expect(await scene.receive(post())).toEqual(reply);
  });

  it('that says processed without running the work loses no callback', async () => {
    const scene = createScene({ store: answering(async () => ({ outcome: 'processed' })) });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.reports).toMatchObject([{ error: { code: 'STORE_FAILED' } }]);
  });

  it.each([undefined, null, 'done', true, {}])(
    'that answers %s is not taken for done',
    async (answer) => {
      const scene = createScene({ store: answering(async () => answer as never) });
      expect(await scene.receive(post())).toEqual(failed);
      expect(String(scene.reports[0]?.error)).toContain('store.process must resolve with');
    },
  );

  it('that fails gives 500, and onError receives the callback', async () => {
    const trouble = new Error('connection refused');
    const scene = createScene({ store: answering(() => Promise.reject(trouble)) });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.reports).toMatchObject([
      { error: trouble, callback: { payment: { status: 'paid' } } },
    ]);
  });

  it('that says processed though the work failed is not believed', async () => {
    const swallowing: CallbackStore = {
      async process(_change, work) {
        const context = contextOf();
        await work(context).catch(() => undefined);
        return { outcome: 'processed' };
      },
    };
    const scene = createScene({ store: swallowing, onPayment: () => Promise.reject(new Error()) });
    expect(await scene.receive(post())).toEqual(failed);
    expect(String(scene.reports[0]?.error)).toContain("must not resolve with 'processed'");
  });

  it.each(['busy', 'duplicate'] as const)(
    'that knows better than the work that failed, and says %s, is believed',
    async (outcome) => {
      const swallowing: CallbackStore = {
        async process(_change, work) {
          await work(contextOf()).catch(() => {});
          return { outcome };
        },
      };
      const onPayment = () => Promise.reject(new Error('trouble'));
      const scene = createScene({ store: swallowing, onPayment });
      expect(await scene.receive(post())).toMatchObject({ outcome });
    },
  );

  it('that says processed before the work is done is not believed', async () => {
    const hasty: CallbackStore = {
      async process(_change, work) {
        work(contextOf());
        return { outcome: 'processed' };
      },
    };
    const gate = createGate();
    const scene = createScene({ store: hasty, onPayment: () => gate.opened });
    expect(await scene.receive(post())).toEqual(failed);
    gate.open();
  });

  it('that runs the work twice is stopped', async () => {
    const repeating: CallbackStore = {
      async process(_change, work) {
        const context = contextOf();
        await work(context);
        await work(context);
        return { outcome: 'processed' };
      },
    };
    const scene = createScene({ store: repeating });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.handled).toHaveLength(1);
    expect(String(scene.reports[0]?.error)).toContain('store.process must run work once');
  });

  it('is not asked before the callback is verified', async () => {
    const process = vi.fn(async (): Promise<ChangeResult> => ({ outcome: 'processed' }));
    const scene = createScene({ store: { process } });
    await scene.receive(post({}, { secret: OTHER_SECRET }));
    await scene.receive(postBody('{}'));
    expect(process).not.toHaveBeenCalled();
  });
});

describe('the signal', () => {
  const abortedBy = async (from: 'client' | 'store' | 'nobody') => {
    const client = new AbortController();
    const lease = new AbortController();
    const signals: AbortSignal[] = [];
    const scene = createScene({
      store: {
        async process(_change, work) {
          await work({ ...contextOf(), signal: lease.signal });
          return { outcome: 'processed' };
        },
      },
      async onPayment(_callback, context) {
        const { signal } = context;
        signals.push(signal, context.signal);
        if (from === 'client') client.abort(new Error('gone'));
        if (from === 'store') lease.abort(new Error('lost'));
      },
    });
    await scene.receive({ ...post(), signal: client.signal });
    expect(signals[0]).toBe(signals[1]);
    return signals[0];
  };

  it('aborts when the client goes away', async () => {
    expect((await abortedBy('client'))?.reason).toEqual(new Error('gone'));
  });

  it('aborts when the store loses its lease', async () => {
    expect((await abortedBy('store'))?.reason).toEqual(new Error('lost'));
  });

  it('does not abort otherwise', async () => {
    expect((await abortedBy('nobody'))?.aborted).toBe(false);
  });

  it.each(['client', 'store'] as const)(
    'is aborted from the start when the %s is gone already',
    async (from) => {
      const [client, lease] = [new AbortController(), new AbortController()];
      (from === 'client' ? client : lease).abort(new Error('gone'));
      const signals: AbortSignal[] = [];
      const scene = createScene({
        store: {
          async process(_change, work) {
            await work({ ...contextOf(), signal: lease.signal });
            return { outcome: 'processed' };
          },
        },
        onPayment: (_callback, { signal }) => void signals.push(signal),
      });
      await scene.receive({ ...post(), signal: client.signal });
      expect(signals).toMatchObject([{ aborted: true, reason: new Error('gone') }]);
    },
  );

  it('leaves no listener behind on what it follows', async () => {
    const client = new AbortController();
    const scene = createScene({
      onPayment: (_callback, { signal }) => signal.addEventListener('abort', () => undefined),
    });
    await scene.receive({ ...post(), signal: client.signal });
    expect(getEventListeners(client.signal, 'abort')).toEqual([]);
  });
});

describe('onPayment that takes too long', () => {
  it('has its signal aborted, the service gets 500, and onError is called', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const gate = createGate();
    const signals: AbortSignal[] = [];
    const scene = createScene({
      onPaymentTimeoutMs: 100,
      async onPayment(_callback, { signal }) {
        signals.push(signal);
        await gate.opened;
      },
    });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(99);
    expect(signals).toMatchObject([{ aborted: false }]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reply).toEqual(failed);
    expect(signals[0]?.reason).toMatchObject({
      code: 'WORK_TIMEOUT',
      message: expect.stringMatching(
        /^onPayment did not return within 100 ms \(onPaymentTimeoutMs\)/,
      ),
    });
    expect(scene.reports).toMatchObject([
      { error: signals[0]?.reason, callback: { payment: { status: 'paid' } } },
    ]);

    // It may still write, so no other delivery may begin.
    expect(await scene.receive(post())).toEqual(busy);
    gate.open();
    await waitFor(async () => expect(await scene.receive(post())).toEqual(duplicate));
    expect(scene.handled).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('finds its signal aborted when it looks afterwards', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const gate = createGate();
    const signals: AbortSignal[] = [];
    const scene = createScene({
      onPaymentTimeoutMs: 100,
      async onPayment(_callback, context) {
        await gate.opened;
        signals.push(context.signal);
      },
    });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(100);
    await reply;
    gate.open();
    await waitFor(() => expect(signals).toMatchObject([{ aborted: true }]));
  });

  it('is reported too when it fails after that', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const gate = createGate();
    const scene = createScene({
      onPaymentTimeoutMs: 100,
      onPayment: () => gate.opened.then(() => Promise.reject(new Error('too late'))),
    });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(100);
    await reply;
    gate.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.reports).toMatchObject([
      { error: { code: 'WORK_TIMEOUT' } },
      { error: new Error('too late'), callback: { payment: { status: 'paid' } } },
    ]);
    scene.receive(post({ status: 'next' }));
    await waitFor(() => expect(scene.handled).toHaveLength(2));
  });
});

describe('onPayment that ends by its signal after its time', () => {
  it.each([
    ['throws the reason', (reason: unknown) => reason],
    ['wraps it', (reason: unknown) => new Error('aborted', { cause: reason })],
    ['asks for a retry', () => new RetryLaterError()],
  ])('and %s is reported once', async (_, toError) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const scene = createScene({
      onPaymentTimeoutMs: 100,
      onPayment: (_callback, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(toError(signal.reason)));
        }),
    });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(100);
    expect(await reply).toEqual(failed);
    await scene.idle();
    expect(scene.reports).toMatchObject([{ error: { code: 'WORK_TIMEOUT' } }]);
  });
});

describe('a change that stays busy', () => {
  const old = (status: string) => post({ status, updatedAt: '2026-01-31T11:50:04.999Z' });
  const open = (options: Partial<CallbackReceiverOptions> = {}) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    // A process that has run for an hour.
    vi.advanceTimersByTime(3_600_000);
    return createScene({ store: { process: async () => ({ outcome: 'busy' }) }, ...options });
  };
  const codesOf = ({ reports }: ReturnType<typeof createScene>) =>
    reports.map(({ error }) => codeOf(error));

  it('is reported once a minute when it is more than ten minutes old', async () => {
    const scene = open();
    const young = post({ updatedAt: '2026-01-31T11:50:05Z' });
    for (const request of [young, old('a'), old('b'), old('c')]) {
      expect(await scene.receive(request)).toEqual(busy);
    }
    vi.advanceTimersByTime(59_999);
    await scene.receive(old('a'));
    expect(scene.reports).toEqual([]);
    vi.advanceTimersByTime(1);
    for (const request of [young, old('a'), old('b'), old('c')]) await scene.receive(request);
    expect(codesOf(scene)).toEqual(['RETRY_LATER']);
    vi.advanceTimersByTime(60_000);
    await scene.receive(old('a'));
    expect(codesOf(scene)).toEqual(['RETRY_LATER', 'RETRY_LATER']);
    expect(scene.reports[1]).toMatchObject({
      error: { message: expect.stringContaining('A change (and 2 before it) is over ten') },
      callback: { key: expect.any(String) },
    });
  });

  it('is not reported when it was processed in between', async () => {
    const outcomes: ChangeOutcome[] = ['busy', 'processed', 'busy'];
    const scene = open({
      store: {
        async process(_change, work) {
          const outcome = outcomes.shift() ?? 'duplicate';
          if (outcome === 'processed') await work({} as never);
          return { outcome };
        },
      },
    });
    for (let count = 0; count < 3; count += 1) {
      await scene.receive(old('a'));
      vi.advanceTimersByTime(60_000);
    }
    expect(scene.reports).toEqual([]);
  });

  it('is forgotten after a thousand others', async () => {
    const scene = open();
    await scene.receive(old('first'));
    for (let count = 0; count < 1_000; count += 1) await scene.receive(old(`other-${count}`));
    vi.advanceTimersByTime(60_000);
    await scene.receive(old('first'));
    expect(scene.reports).toEqual([]);
    await scene.receive(old('other-999'));
    expect(codesOf(scene)).toEqual(['RETRY_LATER']);
  });
});

describe('RetryLaterError', () => {
  const later = new RetryLaterError('the order is not stored yet', { retryAfterSeconds: 30 });
  const retry = { status: 503, headers: { 'retry-after': '30' }, outcome: 'busy' };

  it.each([
    ['thrown by onPayment', later],
    ['wrapped', new Error('the transaction was rolled back', { cause: later })],
    ['wrapped twice', new Error('a', { cause: new Error('b', { cause: later }) })],
  ])('%s asks for a retry, is reported nowhere, and leaves the change free', async (_, error) => {
    let isStored = false;
    const scene = createScene({
      onPayment() {
        if (!isStored) throw error;
      },
    });
    expect(await scene.receive(post())).toEqual(retry);
    expect(scene.reports).toEqual([]);
    isStored = true;
    expect(await scene.receive(post())).toEqual(processed);
    expect(scene.handled).toHaveLength(2);
  });

  it.each([
    ['not yet', '2026-01-31T11:50:05Z', []],
    ['then', '2026-01-31T11:50:04.999Z', [{ error: later, callback: { key: expect.any(String) } }]],
  ])('is reported once its change is older than ten minutes: %s', async (_, updatedAt, reports) => {
    const scene = createScene({ onPayment: () => Promise.reject(later) });
    expect(await scene.receive(post({ updatedAt }))).toEqual(retry);
    expect(scene.reports).toMatchObject(reports);
    expect(scene.reports).toHaveLength(reports.length);
  });

  it('is reported by the clock of this machine too, since retries may carry their first timestamp', async () => {
    const scene = createScene({
      toleranceSeconds: 86_400,
      now: () => now() + 600_000,
      onPayment: () => Promise.reject(later),
    });
    await scene.receive(post({ updatedAt: '2026-01-31T12:00:05.000Z' }));
    expect(scene.reports).toEqual([]);
    await scene.receive(post({ updatedAt: '2026-01-31T12:00:04.999Z' }));
    expect(scene.reports).toMatchObject([{ error: later }]);
  });

  it('of another copy of the package is one too', async () => {
    vi.resetModules();
    const copy = await import('../../src/errors.js');
    expect(copy.RetryLaterError).not.toBe(RetryLaterError);
    const scene = createScene({
      onPayment: () => Promise.reject(new copy.RetryLaterError('not yet')),
    });
    expect(await scene.receive(post())).toEqual(busy);
    expect(scene.reports).toEqual([]);
  });

  it('is a failure where nothing was verified yet, or no record accepted', async () => {
    const throwing = () => {
      throw later;
    };
    const recordSchema: StandardSchemaV1 = {
      '~standard': { version: 1, vendor: 'test', validate: throwing },
    };
    for (const [options, error] of [
      [{ signingSecret: throwing }, { code: 'SECRET_UNAVAILABLE' }],
      [{ recordSchema }, later],
    ] as const) {
      const scene = createScene(options);
      expect(await scene.receive(post())).toEqual(failed);
      expect(scene.reports).toMatchObject([{ error }]);
    }
  });

  it('does not hide that the store failed after it', async () => {
    const trouble = new Error('the rollback failed');
    const scene = createScene({
      store: {
        async process(_change, work) {
          await work(contextOf()).catch(() => Promise.reject(trouble));
          return { outcome: 'processed' };
        },
      },
      onPayment: () => Promise.reject(later),
    });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.reports).toMatchObject([{ error: trouble }]);
  });
});

describe('idle', () => {
  const isIdle = async (scene: { idle(): Promise<void> }) => {
    let idle = false;
    void scene.idle().then(() => {
      idle = true;
    });
    await new Promise(setImmediate);
    return idle;
  };

  it('waits for every callback that is being processed', async () => {
    const gates = [createGate(), createGate()];
    const scene = createScene({
      onPayment: ({ payment }) => gates[payment.referenceNumber === 'other' ? 1 : 0]?.opened,
    });
    expect(await isIdle(scene)).toBe(true);
    const other = post({ referenceNumber: 'other', merchantPaymentReference: 'order-2' });
    const replies = [scene.receive(post()), scene.receive(other)];
    const waiting = scene.idle();
    await waitFor(() => expect(scene.handled).toHaveLength(2));
    gates[0]?.open();
    await replies[0];
    expect(await isIdle(scene)).toBe(false);
    gates[1]?.open();
    await waiting;
    expect(await Promise.all(replies)).toEqual([processed, processed]);
    expect(await isIdle(scene)).toBe(true);
  });

  it('waits for work that runs on after its time, and for the report of its failure', async () => {
    const gate = createGate();
    const scene = createScene({
      onPaymentTimeoutMs: 1,
      onPayment: () => gate.opened.then(() => Promise.reject(new Error('too late'))),
    });
    expect(await scene.receive(post())).toEqual(failed);
    expect(await isIdle(scene)).toBe(false);
    gate.open();
    await scene.idle();
    expect(scene.reports).toHaveLength(2);
  });

  it('waits for work whose store has given it up', async () => {
    const gate = createGate();
    const scene = createScene({
      store: {
        async process(_change, work) {
          const running = work(contextOf());
          running.catch(() => undefined);
          throw new Error('the lease was lost');
        },
      },
      onPayment: () => gate.opened,
    });
    expect(await scene.receive(post())).toEqual(failed);
    expect(await isIdle(scene)).toBe(false);
    gate.open();
    await scene.idle();
  });
});

describe('onError', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('no logs today');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no logs today'))],
  ])('changes nothing about the reply when it %s', async (_, onError) => {
    const scene = createScene({ onError, onPayment: () => Promise.reject(new Error('trouble')) });
    expect(await scene.receive(post())).toEqual(failed);
  });

  it('has done its work before the reply, after which a function may be frozen', async () => {
    let isFlushed = false;
    const scene = createScene({
      onPayment: () => Promise.reject(new Error('trouble')),
      async onError() {
        await new Promise((resolve) => setImmediate(resolve));
        isFlushed = true;
      },
    });
    await scene.receive(post());
    expect(isFlushed).toBe(true);
  });
});

describe('onRejected', () => {
  it('changes nothing about the reply when it throws', async () => {
    const onRejected = () => {
      throw new Error('no logs today');
    };
    const scene = createScene({ onRejected });
    expect(await scene.receive(post({}, { secret: OTHER_SECRET }))).toEqual(rejected(401));
  });

  it('does not end the process when it rejects: anyone could cause that', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const onRejected = () => Promise.reject(new Error('no logs today'));
    const scene = createScene({ onRejected });
    expect(await scene.receive(post({}, { secret: OTHER_SECRET }))).toEqual(rejected(401));
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('gets why a body could not be read, which may be that of a genuine callback', async () => {
    const scene = createScene({ maxBodyBytes: 10 });
    expect(await scene.receive(post())).toMatchObject({ status: 413, outcome: 'rejected' });
    expect(scene.rejections).toMatchObject([
      {
        code: 'BODY_TOO_LARGE',
        message: expect.stringMatching(/^The body has more than 10 bytes \(maxBodyBytes\), /),
      },
    ]);
    expect(scene.reports).toEqual([]);
  });
});

describe('construction', () => {
  const right = { signingSecret: SECRET, onPayment: () => undefined };

  it.each([
    ['options', undefined],
    ['signingSecret', { ...right, signingSecret: '' }],
    ['onPayment', { signingSecret: SECRET }],
    ['store', { ...right, store: {} }],
    ['parkAftr', { ...right, parkAftr: 1 }],
    ['parkAfter', { ...right, parkAfter: 0 }],
    ['maxBodyBytes', { ...right, maxBodyBytes: 0 }],
    ['onPaymentTimeoutMs', { ...right, onPaymentTimeoutMs: 2_147_483_648 }],
    ['onRejected', { ...right, onRejected: 'log' }],
    ['toleranceSeconds', { ...right, signingSecret: () => SECRET, toleranceSeconds: -1 }],
    ['recordSchema', { ...right, recordSchema: {} }],
  ])('refuses a wrong %s and names it', (option, options) => {
    const create = () => createCallbackReceiver(options as never);
    expect(create).toThrow(InvalidOptionError);
    expect(create).toThrow(expect.objectContaining({ option }));
  });

  it('does not ask for the secret, which a build may not have', () => {
    const signingSecret = vi.fn(() => SECRET);
    createCallbackReceiver({ ...right, signingSecret });
    expect(signingSecret).not.toHaveBeenCalled();
  });
});

describe('a handler that is created without its secret', () => {
  const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';
  const text = `signingSecret is missing, so each callback gets a 500; set ${VARIABLE} in the environment, or pass signingSecret`;
  const onPayment = () => {};

  it.each(['', ' ', undefined])('warns once, with %j', (value) => {
    vi.stubEnv(VARIABLE, value);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    createCallbackReceiver({ onPayment });
    expect(warn.mock.calls).toEqual([[`merchant-payments: ${text}`]]);
  });

  it('does not warn if it has one', () => {
    vi.stubEnv(VARIABLE, 'whsec_of_its_own');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    createCallbackReceiver({ onPayment });
    vi.stubEnv(VARIABLE, '');
    createCallbackReceiver({ onPayment, signingSecret: 'whsec_of_its_own' });
    expect(warn).not.toHaveBeenCalled();
  });
});
