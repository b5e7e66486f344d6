import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { callbackKey, prepareSecrets } from '../../src/callback/verify.js';
import {
  InvalidOptionError,
  type MerchantPaymentsError,
  RetryLaterError,
} from '../../src/errors.js';
import {
  createCallbackReceiver,
  type ReceivedRequest,
} from '../../src/receiver/callback-receiver.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { createReceiver } from '../../src/receiver/receiver.js';
import type { ChangeOutcome } from '../../src/store/callback-store.js';
import { schemaOf } from '../callback/contract/record-schema.js';
import {
  NOW_SECONDS,
  now,
  OTHER_SECRET,
  SECRET,
  sampleRecord,
} from '../callback/sample-callback.js';
import { createGate } from '../contract/gate.js';
import { waitFor } from '../wait-for.js';
import { createScene, post, postBody, stopTime, storeThat } from './scene.js';

const processed = { status: 200, headers: {}, outcome: 'processed' };
const duplicate = { status: 200, headers: {}, outcome: 'duplicate' };
const busy = { status: 503, headers: { 'retry-after': '1' }, outcome: 'busy' };
const failed = { status: 500, headers: {}, outcome: 'failed' };
const rejected = (status: number) => ({ status, headers: {}, outcome: 'rejected' });

type Options = Partial<CallbackReceiverOptions>;

const codeOf = (error: unknown) => (error as MerchantPaymentsError).code;
const throwing = (error: unknown) => () => {
  throw error;
};

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
    const gate = createGate<void>();
    const scene = createScene({ onPayment: () => gate.promise });
    const settled = vi.fn();
    const reply = scene.receive(post()).finally(settled);
    await waitFor(() => expect(scene.handled).toHaveLength(1));
    expect(settled).not.toHaveBeenCalled();
    gate.open();
    expect(await reply).toEqual(processed);
  });

  it.each([undefined, 'text'])('fails when onPayment rejects with %s', async (reason) => {
    const scene = createScene({ onPayment: () => Promise.reject(reason) });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.reports.map(({ error }) => error)).toEqual([reason]);
  });

  it('may come by post in lower case, as some frameworks write it', async () => {
    expect(await createScene().receive({ ...post(), method: 'post' })).toEqual(processed);
  });
});

describe('the order of changes', () => {
  it('processes an older change too, and says that it is not current', async () => {
    const older = post({ updatedAt: '2026-01-31T12:00:01+00:00' });
    const newer = post({ updatedAt: '2026-01-31T12:00:02+00:00', status: 'settled' });
    const seen: [string, boolean][] = [];
    const scene = createScene({
      onPayment: ({ payment }, { current }) => void seen.push([payment.status, current]),
    });
    await scene.receive(newer);
    expect(await scene.receive(older)).toEqual(processed);
    expect(await scene.receive(older)).toEqual(duplicate);
    expect(seen).toEqual([
      ['settled', true],
      ['paid', false],
    ]);
    expect(scene.reports).toEqual([]);
  });

  it.each([undefined, false])(
    'is that of the payment for a store that says of current %s, and of the rest nothing',
    async (current) => {
      const contexts: unknown[] = [];
      const unsaid = { order: undefined, secondPayment: undefined } as object;
      const scene = createScene({
        store: storeThat(async (work) => {
          await work({ ...unsaid, current } as object);
          return { outcome: 'processed' };
        }),
        onPayment: (_, context) => void contexts.push(context),
      });
      await scene.receive(post());
      expect(contexts).toMatchObject([
        { current: current ?? true, secondPayment: false, order: 'order-1001' },
      ]);
    },
  );
});

describe('a request that is refused', () => {
  it.each([
    ['bytes', (size: number) => new Uint8Array(size)],
    ['text of two-byte characters', (size: number) => 'é'.repeat(size / 2)],
    ['an ArrayBuffer', (size: number) => new ArrayBuffer(size)],
  ])('is answered 413 beyond maxBodyBytes, counted in bytes of %s', async (_, create) => {
    const request = { ...post(), rawBody: create(1200) };
    expect(await createScene({ maxBodyBytes: 1200 }).receive(request)).toEqual(rejected(401));
    const scene = createScene({ maxBodyBytes: 1199 });
    expect(await scene.receive(request)).toEqual(rejected(413));
    expect(scene.rejections).toMatchObject([
      { code: 'BODY_TOO_LARGE', message: expect.stringContaining('1199 bytes (maxBodyBytes)') },
    ]);
    expect(scene.reports).toEqual([]);
  });

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

  it.each(unsigned)('for %s is refused before its body is read', async (_what, headers, code) => {
    const reasons: string[] = [];
    const readBody = vi.fn(() => ['']);
    const signingSecret = vi.fn(() => SECRET);
    const { receive } = createReceiver(
      { signingSecret, now, onPayment() {}, onRejected: (error) => void reasons.push(error.code) },
      prepareSecrets,
    );
    const reply = await receive({ method: 'POST', headers: headers as never, readBody });
    expect(reply).toEqual(rejected(401));
    expect(reasons).toEqual([code]);
    expect(readBody).not.toHaveBeenCalled();
    expect(signingSecret).not.toHaveBeenCalled();
  });
});

describe('what any request shows', () => {
  const parsed = { ...post(), rawBody: sampleRecord() as never };
  const shown: [string, Options, ReceivedRequest, string][] = [
    ['a body that was parsed', {}, parsed, 'RAW_BODY_REQUIRED'],
    ['a secret that is missing', { signingSecret: () => ' ' }, post(), 'INVALID_OPTION'],
    [
      'a secret store that fails',
      { signingSecret: () => Promise.reject(new Error('sealed')) },
      post(),
      'SECRET_UNAVAILABLE',
    ],
  ];

  it.each(shown)('is reported once a minute: %s', async (_what, options, request, code) => {
    stopTime('performance');
    const scene = createScene(options);
    for (let count = 0; count < 3; count += 1) expect(await scene.receive(request)).toEqual(failed);
    expect(scene.reports).toMatchObject([{ error: { code } }]);
    vi.advanceTimersByTime(60_000);
    await scene.receive(request);
    expect(scene.reports).toHaveLength(2);
    expect(scene.handled).toEqual([]);
  });

  it('does not silence what an authentic callback shows', async () => {
    const recordSchema = schemaOf(throwing(new InvalidOptionError('schema', 'a bug in it')));
    const scene = createScene({ recordSchema });
    for (let count = 0; count < 3; count += 1) await scene.receive(post());
    expect(scene.reports).toHaveLength(3);
  });
});

describe('signingSecret as a function', () => {
  it('is asked for every callback, so that a secret can change without a restart', async () => {
    const secrets = [SECRET, [OTHER_SECRET, SECRET], [OTHER_SECRET], [OTHER_SECRET, SECRET], ''];
    const scene = createScene({ signingSecret: () => secrets.shift() as string });
    const statuses = [];
    for (const status of ['a', 'b', 'c', 'd', 'e']) {
      statuses.push((await scene.receive(post({ status }))).status);
    }
    expect(statuses).toEqual([200, 200, 401, 200, 500]);
  });

  it('may be asynchronous and give several', async () => {
    const scene = createScene({ signingSecret: async () => [OTHER_SECRET, SECRET] });
    expect(await scene.receive(post())).toEqual(processed);
    expect(scene.handled[0]?.secretIndex).toBe(1);
  });

  it('may give bytes that change in place', async () => {
    const secret = Buffer.from(SECRET);
    const scene = createScene({ signingSecret: () => secret });
    expect(await scene.receive(post())).toEqual(processed);
    secret.write(SECRET.toUpperCase());
    expect(await scene.receive(post())).toEqual(rejected(401));
  });

  it('is not asked for a request of another method or with too large a body', async () => {
    const signingSecret = vi.fn(() => SECRET);
    const scene = createScene({ signingSecret, maxBodyBytes: 10 });
    await scene.receive({ ...post(), method: 'GET' });
    await scene.receive(post());
    expect(signingSecret).not.toHaveBeenCalled();
  });

  it('has ten seconds for its secret store', async () => {
    stopTime();
    const answers: unknown[] = [SECRET, new Promise<string>(() => {})];
    const scene = createScene({ signingSecret: () => answers.shift() as string });
    expect(await scene.receive(post())).toEqual(processed);
    const reply = scene.receive(post({ status: 'next' }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await reply).toEqual(failed);
    expect(scene.reports).toMatchObject([
      { error: { code: 'SECRET_UNAVAILABLE', option: 'signingSecret' } },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['ECONNREFUSED', 'signingSecret failed (ECONNREFUSED)'],
    [SECRET, 'signingSecret failed (Error)'],
  ])('names the failure %s of its secret store, unless it may be a secret', async (code, says) => {
    const scene = createScene({
      signingSecret: throwing(Object.assign(new Error(SECRET), { code })),
    });
    expect(await scene.receive(post())).toEqual(failed);
    const { error } = scene.reports[0] ?? {};
    expect(String(error)).toContain(says);
    expect(inspect(error, { showHidden: true })).not.toContain(SECRET);
  });
});

describe('recordSchema', () => {
  it.each([
    ['', z.object({ status: z.literal('paid') })],
    [', asynchronously', z.object({ status: z.string().refine(async (text) => text === 'paid') })],
  ])('answers 422 for a record that it refuses%s', async (_, recordSchema) => {
    const scene = createScene({ recordSchema });
    expect(await scene.receive(post())).toEqual(processed);
    expect(await scene.receive(post({ status: 'other' }))).toEqual(rejected(422));
    expect(scene.reports).toMatchObject([{ error: { code: 'INVALID_RECORD' } }]);
  });

  it('fails when it gives no result within ten seconds', async () => {
    stopTime();
    const scene = createScene({ recordSchema: schemaOf(() => new Promise<never>(() => {})) });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(9_999);
    expect(scene.reports).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reply).toEqual(failed);
    expect(scene.reports).toMatchObject([{ error: { option: 'recordSchema' } }]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a store of your own', () => {
  type Process = Parameters<typeof storeThat>[0];

  const believed: [string, Process, object][] = [
    ['duplicate', () => ({ outcome: 'duplicate' }), duplicate],
    ['busy', () => ({ outcome: 'busy' }), busy],
    [
      'busy, of work that failed',
      async (work) => {
        await work().catch(() => {});
        return { outcome: 'busy' };
      },
      busy,
    ],
  ];
  const onPayment = () => Promise.reject(new Error('trouble'));
  it.each(believed)('is believed that says %s', async (_, process, reply) => {
    const scene = createScene({ store: storeThat(process), onPayment });
    expect(await scene.receive(post())).toEqual(reply);
    expect(scene.reports).toEqual([]);
  });

  const unusable = 'store.process must resolve with';
  const untrue = "must not resolve with 'processed'";
  const refused: [string, Process, Options, string][] = [
    ['nothing', () => undefined, {}, unusable],
    ['a text', () => 'processed', {}, unusable],
    ['an object without an outcome', () => ({}), {}, unusable],
    ['processed without running the work', () => ({ outcome: 'processed' }), {}, untrue],
    [
      'processed though the work failed',
      async (work) => {
        await work().catch(() => {});
        return { outcome: 'processed' };
      },
      { onPayment },
      untrue,
    ],
    [
      'processed before the work is done',
      (work) => {
        void work();
        return { outcome: 'processed' };
      },
      { onPayment: () => new Promise(setImmediate) },
      untrue,
    ],
    [
      'processed after it ran the work twice',
      async (work) => {
        await work();
        await work();
        return { outcome: 'processed' };
      },
      {},
      'store.process must run work once',
    ],
    ['that it failed', throwing(new Error('connection refused')), {}, 'connection refused'],
  ];
  it.each(refused)('that says %s loses no callback', async (_, process, options, says) => {
    const scene = createScene({ store: storeThat(process), ...options });
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.handled.length).toBeLessThan(2);
    expect(scene.reports).toMatchObject([
      { error: { message: expect.stringContaining(says) }, callback: { key: expect.any(String) } },
    ]);
  });

  it('is not asked before the callback is verified', async () => {
    const process = vi.fn();
    const scene = createScene({ store: storeThat(process) });
    await scene.receive(post({}, { secret: OTHER_SECRET }));
    await scene.receive(postBody('{}'));
    expect(process).not.toHaveBeenCalled();
  });
});

describe('the signal', () => {
  it.each(
    (['client', 'store'] as const).flatMap((from) =>
      (['before', 'meanwhile', 'never'] as const).map((when) => ({ from, when })),
    ),
  )('is aborted when the $from is gone: $when', async ({ from, when }) => {
    const sources = { client: new AbortController(), store: new AbortController() };
    const abort = () => sources[from].abort(new Error('gone'));
    const signals: AbortSignal[] = [];
    if (when === 'before') abort();
    const scene = createScene({
      store: storeThat(async (work) => {
        await work({ signal: sources.store.signal });
        return { outcome: 'processed' };
      }),
      onPayment(_callback, context) {
        signals.push(context.signal);
        if (when === 'meanwhile') abort();
      },
    });
    await scene.receive({ ...post(), signal: sources.client.signal });
    const reason = when === 'never' ? undefined : new Error('gone');
    expect(signals).toMatchObject([{ aborted: when !== 'never', reason }]);
    // Afterwards nothing is left behind.
    for (const { signal } of Object.values(sources)) {
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });
});

describe('onPayment that takes too long', () => {
  it('has its signal aborted, the service gets 500, and onError is called', async () => {
    stopTime();
    const gate = createGate<void>();
    const signals: AbortSignal[] = [];
    const scene = createScene({
      onPaymentTimeoutMs: 100,
      async onPayment(_callback, context) {
        await gate.promise;
        signals.push(context.signal);
      },
    });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(99);
    expect(scene.reports).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reply).toEqual(failed);
    const error = { code: 'WORK_TIMEOUT', message: expect.stringContaining('within 100 ms') };
    expect(scene.reports).toMatchObject([{ error, callback: { payment: { status: 'paid' } } }]);

    // It may still write, so no other delivery may begin.
    expect(await scene.receive(post())).toEqual(busy);
    gate.open();
    await waitFor(async () => expect(await scene.receive(post())).toEqual(duplicate));
    // It has looked at its signal only then.
    expect(signals).toMatchObject([{ aborted: true, reason: error }]);
    expect(scene.handled).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['throws the reason', (reason: unknown) => reason],
    ['wraps it', (reason: unknown) => new Error('aborted', { cause: reason })],
    ['asks for a retry', () => new RetryLaterError()],
  ])('and %s of its signal is reported once', async (_, toError) => {
    stopTime();
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
  const open = (process: () => unknown = () => ({ outcome: 'busy' })) => {
    stopTime('performance');
    // A process that has run for an hour.
    vi.advanceTimersByTime(3_600_000);
    return createScene({ store: storeThat(process) });
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

  it('is not reported when it was known to be processed in between', async () => {
    const outcomes: ChangeOutcome[] = ['busy', 'duplicate', 'busy'];
    const scene = open(() => ({ outcome: outcomes.shift() }));
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

  it.each<[string, Options, string, object[]]>([
    ['not yet', {}, '2026-01-31T11:50:05Z', []],
    ['then', {}, '2026-01-31T11:50:04.999Z', [{ error: later, callback: {} }]],
    // Retries may carry their first timestamp.
    ['not yet by this clock', { now: () => now() + 600_000 }, '2026-01-31T12:00:05Z', []],
    ['by it', { now: () => now() + 600_000 }, '2026-01-31T12:00:04.999Z', [{ error: later }]],
  ])('is reported once its change is older than ten minutes: %s', async (_, clock, at, reports) => {
    const onPayment = () => Promise.reject(later);
    const scene = createScene({ onPayment, toleranceSeconds: 86_400, ...clock });
    expect(await scene.receive(post({ updatedAt: at }))).toEqual(retry);
    expect(scene.reports).toMatchObject(reports);
    expect(scene.reports).toHaveLength(reports.length);
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

  it.each<[string, Options, object]>([
    ['verified', { signingSecret: throwing(later) }, { code: 'SECRET_UNAVAILABLE' }],
    ['accepted', { recordSchema: schemaOf(throwing(later)) }, later],
  ])('is a failure where nothing was %s', async (_, options, error) => {
    const scene = createScene(options);
    expect(await scene.receive(post())).toEqual(failed);
    expect(scene.reports).toMatchObject([{ error }]);
  });

  it('does not hide that the store failed after it', async () => {
    const trouble = new Error('the rollback failed');
    const store = storeThat((work) => work().catch(throwing(trouble)));
    const scene = createScene({ store, onPayment: () => Promise.reject(later) });
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
    const gates = [createGate<void>(), createGate<void>()];
    const scene = createScene({
      onPayment: ({ payment }) => gates[payment.referenceNumber === 'other' ? 1 : 0]?.promise,
    });
    expect(await isIdle(scene)).toBe(true);
    const other = post({ referenceNumber: 'other', merchantPaymentReference: 'order-2' });
    const replies = [scene.receive(post()), scene.receive(other)];
    await waitFor(() => expect(scene.handled).toHaveLength(2));
    gates[0]?.open();
    await replies[0];
    expect(await isIdle(scene)).toBe(false);
    gates[1]?.open();
    await scene.idle();
    expect(await Promise.all(replies)).toEqual([processed, processed]);
  });

  it('waits for work that runs on after its time, and for the report of its failure', async () => {
    const gate = createGate<void>();
    const late = new Error('too late');
    const scene = createScene({
      onPaymentTimeoutMs: 1,
      onPayment: () => gate.promise.then(throwing(late)),
    });
    expect(await scene.receive(post())).toEqual(failed);
    expect(await isIdle(scene)).toBe(false);
    gate.open();
    await scene.idle();
    expect(scene.reports).toMatchObject([
      { error: { code: 'WORK_TIMEOUT' } },
      { error: late, callback: { payment: { status: 'paid' } } },
    ]);
  });

  it('waits for work whose store has given it up', async () => {
    const gate = createGate<void>();
    const store = storeThat((work) => {
      work().catch(() => undefined);
      throw new Error('the lease was lost');
    });
    const scene = createScene({ store, onPayment: () => gate.promise });
    expect(await scene.receive(post())).toEqual(failed);
    expect(await isIdle(scene)).toBe(false);
    gate.open();
    await scene.idle();
  });
});

const noLogs: [string, () => never | Promise<never>][] = [
  ['throws', throwing(new Error('no logs today'))],
  ['rejects', () => Promise.reject(new Error('no logs today'))],
];

describe('onError', () => {
  const onPayment = () => Promise.reject(new Error('trouble'));

  it.each(noLogs)('changes nothing about the reply when it %s', async (_, onError) => {
    const scene = createScene({ onError, onPayment });
    expect(await scene.receive(post())).toEqual(failed);
  });

  it('has done its work before the reply, after which a function may be frozen', async () => {
    let isFlushed = false;
    const scene = createScene({
      onPayment,
      async onError() {
        await new Promise(setImmediate);
        isFlushed = true;
      },
    });
    await scene.receive(post());
    expect(isFlushed).toBe(true);
  });

  it('is not awaited for longer than two seconds', async () => {
    stopTime();
    const scene = createScene({ onPayment, onError: () => new Promise(() => {}) });
    const reply = scene.receive(post());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await reply).toEqual(failed);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('onRejected', () => {
  it.each(noLogs)('neither changes the reply nor ends the process when it %s', async (_, log) => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const scene = createScene({ onRejected: log });
    expect(await scene.receive(post({}, { secret: OTHER_SECRET }))).toEqual(rejected(401));
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
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
});

describe('a handler that is created without its secret', () => {
  const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';
  const remedy = `set ${VARIABLE} in the environment, or pass signingSecret`;
  const warnings = (options: Options) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    createCallbackReceiver({ onPayment() {}, ...options });
    return warn.mock.calls;
  };

  it.each(['', ' ', undefined])('warns once, with %j', (value) => {
    vi.stubEnv(VARIABLE, value);
    expect(warnings({})).toEqual([[expect.stringContaining(remedy)]]);
  });

  it('does not warn if it has one', () => {
    vi.stubEnv(VARIABLE, 'whsec_of_its_own');
    expect(warnings({})).toEqual([]);
    vi.stubEnv(VARIABLE, '');
    expect(warnings({ signingSecret: 'whsec_of_its_own' })).toEqual([]);
  });

  it.each([
    ['undefined', `${VARIABLE} must be the value itself`],
    [' secret', `${VARIABLE} must not begin or end with white space`],
  ])('names the variable that holds %j', async (value, says) => {
    vi.stubEnv(VARIABLE, value);
    const scene = createScene({ signingSecret: undefined });
    expect(await scene.receive(post())).toEqual(failed);
    expect(String(scene.reports[0]?.error)).toContain(says);
  });

  it.each([
    ['has no process', undefined],
    ['forbids to read it', { env: new Proxy({}, { get: throwing(new Error('NotCapable')) }) }],
  ])('says so in a runtime that %s', async (_, process) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    vi.stubGlobal('process', process);
    const scene = createScene({ signingSecret: undefined });
    const reply = await scene.receive(post());
    vi.unstubAllGlobals();
    expect(reply).toEqual(failed);
    expect(String(scene.reports[0]?.error)).toContain(remedy);
  });
});
