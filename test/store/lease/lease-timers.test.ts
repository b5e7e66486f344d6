import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeResult } from '../../../src/store/callback-store.js';
import { type Lease, runUnderLease } from '../../../src/store/lease/lease.js';

const DURATION_MS = 3_000;
const THIRD_MS = DURATION_MS / 3;

function createLease(lease: Partial<Lease> = {}) {
  return {
    durationMs: DURATION_MS,
    renewForMs: 600_000,
    askedAtMs: performance.now(),
    renew: vi.fn(async () => true),
    finish: vi.fn(async () => true),
    fail: vi.fn(async (error: unknown): Promise<ChangeResult> => ({ outcome: 'failed', error })),
    release: vi.fn(async () => {}),
    ...lease,
  };
}

/** Work that runs until the test ends it. */
function start(lease: Lease) {
  let complete = () => {};
  let fail = (_error: unknown) => {};
  let signal = AbortSignal.abort('the work was not begun');
  const ended = runUnderLease(lease, (given) => {
    signal = given;
    return new Promise((resolve, reject) => {
      complete = resolve;
      fail = reject;
    });
  });
  // Looked at later.
  ended.catch(() => undefined);
  return { ended, signal, complete: () => complete(), fail: (error: unknown) => fail(error) };
}

type Work = ReturnType<typeof start>;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the timers of a lease', () => {
  it.each([
    ['completes', {}, (work: Work) => work.complete()],
    ['fails', {}, (work: Work) => work.fail(new Error('the work failed'))],
    ['completes without it', { finish: async () => false }, (work: Work) => work.complete()],
  ])('are stopped when the work %s', async (_, options, end) => {
    const lease = createLease(options);
    const work = start(lease);
    await vi.advanceTimersByTimeAsync(THIRD_MS);
    expect(vi.getTimerCount()).toBe(2);
    end(work);
    await work.ended.catch(() => undefined);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(DURATION_MS);
    expect(lease.renew).toHaveBeenCalledTimes(1);
  });

  it('are stopped when the lease is lost, though the work goes on', async () => {
    const lease = createLease({ renew: vi.fn(async () => false) });
    start(lease);
    await vi.advanceTimersByTimeAsync(10 * DURATION_MS);
    expect(lease.renew).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([true, false])(
    'stay stopped when a renewal is answered %s after the work',
    async (said) => {
      let answer = (_: boolean) => {};
      const renew = () =>
        new Promise<boolean>((resolve) => {
          answer = resolve;
        });
      const work = start(createLease({ renew }));
      await vi.advanceTimersByTimeAsync(THIRD_MS);
      work.complete();
      await work.ended;
      answer(said);
      await vi.advanceTimersByTimeAsync(0);
      expect(vi.getTimerCount()).toBe(0);
      expect(work.signal.aborted).toBe(false);
    },
  );

  it('do not keep the process from ending', async () => {
    vi.useRealTimers();
    const timers = () =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const work = start(createLease());
    expect(timers()).toBe(before);
    work.complete();
    await work.ended;
  });
});

it('keeps a lease where timers are numbers, as in Workers', async () => {
  const start = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (...given: Parameters<typeof start>) => Number(start(...given)));
  const lease = createLease();
  try {
    const ended = runUnderLease(lease, () => new Promise((end) => start(end, DURATION_MS)));
    await vi.advanceTimersByTimeAsync(DURATION_MS);
    await expect(ended).resolves.toMatchObject({ outcome: 'processed' });
  } finally {
    vi.unstubAllGlobals();
  }
  expect(lease.renew).toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

describe('a lease that seems lost', () => {
  it('is finished all the same when no other holder took it', async () => {
    const work = start(createLease({ renew: () => Promise.reject(new Error('reset')) }));
    await vi.advanceTimersByTimeAsync(DURATION_MS);
    expect(work.signal.aborted).toBe(true);
    work.complete();
    await work.ended;
  });

  it('does not hide the error of the work', async () => {
    const error = new Error('the work failed');
    const work = start(createLease({ renew: async () => false, finish: async () => false }));
    await vi.advanceTimersByTimeAsync(THIRD_MS);
    work.fail(error);
    await expect(work.ended).resolves.toMatchObject({ error });
  });
});
