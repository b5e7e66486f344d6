import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChangeResult } from '../../../src/store/callback-store.js';
import { type Lease, runUnderLease } from '../../../src/store/lease/lease.js';
import { deferred } from '../../postgres/change.js';

const never = () => new Promise<never>(() => {});

function createLease(more: Partial<Lease> = {}): Lease {
  return {
    durationMs: 300,
    renewForMs: 600_000,
    askedAtMs: performance.now(),
    renew: vi.fn(async () => true),
    finish: vi.fn(async () => true),
    fail: vi.fn(async (error: unknown): Promise<ChangeResult> => ({ outcome: 'failed', error })),
    release: vi.fn(async () => {}),
    ...more,
  };
}

/** Runs work that does not end, and returns its signal. */
async function begin(lease: Lease): Promise<AbortSignal> {
  return new Promise((begun) => {
    runUnderLease(lease, (signal) => {
      begun(signal);
      return never();
    });
  });
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the end of the work', () => {
  test('finishes the lease and stops renewing it', async () => {
    const lease = createLease();
    await runUnderLease(lease, async () => {});
    expect(lease.finish).toHaveBeenCalledOnce();
    expect(lease.release).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['a rejection', () => Promise.reject(new Error('the work failed'))],
    [
      'a throw',
      () => {
        throw new Error('the work failed');
      },
    ],
  ])('by %s fails the lease and stops renewing it', async (_, work) => {
    const lease = createLease();
    const error = new Error('the work failed');
    expect(await runUnderLease(lease, work)).toStrictEqual({ outcome: 'failed', error });
    expect(lease.fail).toHaveBeenCalledOnce();
    expect(lease.finish).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rejects with LEASE_LOST when the lease is no longer ours', async () => {
    const lease = createLease({ finish: async () => false });
    const run = runUnderLease(lease, async () => {});
    await expect(run).rejects.toMatchObject({
      code: 'LEASE_LOST',
      message: expect.stringContaining('Raise leaseMs'),
    });
    expect(lease.release).not.toHaveBeenCalled();
  });

  test('rejects at once when it fails to finish, and releases the lease', async () => {
    const error = new Error('no store');
    const lease = createLease({ finish: () => Promise.reject(error), release: vi.fn(never) });
    await expect(runUnderLease(lease, async () => {})).rejects.toBe(error);
    expect(lease.release).toHaveBeenCalledOnce();
  });
});

describe('a lease', () => {
  test('is renewed three times within its duration', async () => {
    const lease = createLease();
    const signal = await begin(lease);
    await vi.advanceTimersByTimeAsync(99);
    expect(lease.renew).toHaveBeenCalledTimes(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(lease.renew).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(lease.renew).toHaveBeenCalledTimes(30);
    expect(signal.aborted).toBe(false);
  });

  test('is renewed the sooner, the longer its grant took to arrive', async () => {
    const lease = createLease({ askedAtMs: performance.now() - 80 });
    await begin(lease);
    await vi.advanceTimersByTimeAsync(20);
    expect(lease.renew).toHaveBeenCalledTimes(1);
  });

  test('that is no longer ours aborts the signal at the next renewal', async () => {
    const lease = createLease({ renew: vi.fn(async () => false) });
    const signal = await begin(lease);
    await vi.advanceTimersByTimeAsync(100);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('no store'))],
    ['is not answered', never],
  ])('aborts the signal before its duration has passed when every renewal %s', async (_, renew) => {
    const signal = await begin(createLease({ renew }));
    await vi.advanceTimersByTimeAsync(269);
    expect(signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' });
  });

  test('lives on when a renewal fails and a later one in time does not', async () => {
    const renew = vi.fn(async () => true).mockRejectedValueOnce(new Error('no store'));
    const signal = await begin(createLease({ renew }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(renew).toHaveBeenCalledTimes(10);
    expect(signal.aborted).toBe(false);
  });

  test('is renewed a third of its duration after a renewal has failed', async () => {
    const failLater = () =>
      new Promise<boolean>((_, reject) => setTimeout(reject, 40, new Error('no store')));
    const renew = vi.fn(async () => true).mockImplementationOnce(failLater);
    await begin(createLease({ renew }));
    await vi.advanceTimersByTimeAsync(239);
    expect(renew).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(2);
  });

  describe('after a pause of the whole process', () => {
    /** The clock advances without running timers. */
    function pauseFor(ms: number): void {
      const now = performance.now.bind(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
    }

    test('lives on when the store confirms it', async () => {
      const renew = vi.fn(() => new Promise<boolean>((resolve) => setTimeout(resolve, 50, true)));
      const signal = await begin(createLease({ renew }));
      pauseFor(1_000);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(signal.aborted).toBe(false);
      expect(renew).toHaveBeenCalledTimes(10);
    });

    // 170 ms, and the 100 until the renewal, are as long as a lease is safe.
    test.each([170, 1_000])(
      'of %i ms aborts the signal when the store does not confirm for a third of its duration',
      async (pauseMs) => {
        const signal = await begin(createLease({ renew: never }));
        pauseFor(pauseMs);
        await vi.advanceTimersByTimeAsync(199);
        expect(signal.aborted).toBe(false);
        await vi.advanceTimersByTimeAsync(1);
        expect(signal.aborted).toBe(true);
      },
    );

    test.each([400, 1_000])(
      'of %i ms is not renewed when it may not be any more',
      async (pauseMs) => {
        const lease = createLease({ renewForMs: 500 });
        const signal = await begin(lease);
        pauseFor(pauseMs);
        await vi.advanceTimersByTimeAsync(100);
        expect(signal.aborted).toBe(true);
        expect(lease.renew).not.toHaveBeenCalled();
      },
    );
  });

  test('is renewed for renewForMs and not longer, and then aborts the signal', async () => {
    const lease = createLease({ renewForMs: 1_050 });
    const signal = await begin(lease);
    await vi.advanceTimersByTimeAsync(1_049);
    expect(signal.aborted).toBe(false);
    // The last renewal was at 1_000, so no other holder may claim before 1_300.
    await vi.advanceTimersByTimeAsync(1);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lease.renew).toHaveBeenCalledTimes(10);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a lease whose grant arrives when half of it is over', () => {
  const late = () => ({ askedAtMs: performance.now() - 150 });

  test('is renewed before the work begins', async () => {
    let grant = (_: boolean) => {};
    const renew = vi.fn(() => new Promise<boolean>((resolve) => (grant = resolve)));
    const work = vi.fn(async () => {});
    const run = runUnderLease(createLease({ ...late(), renew }), work);
    await vi.advanceTimersByTimeAsync(149);
    expect(work).not.toHaveBeenCalled();
    grant(true);
    await expect(run).resolves.toMatchObject({ outcome: 'processed' });
    expect(work).toHaveBeenCalledOnce();
  });

  test('is renewed a third of its duration after that renewal was asked for', async () => {
    const renew = vi.fn(() => new Promise<boolean>((resolve) => setTimeout(resolve, 40, true)));
    const begun = begin(createLease({ ...late(), renew }));
    await vi.advanceTimersByTimeAsync(40);
    const signal = await begun;
    await vi.advanceTimersByTimeAsync(59);
    expect(renew).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(2);
    expect(signal.aborted).toBe(false);
  });

  test.each<[string, Lease['renew']]>([
    ['is refused', async () => false],
    ['fails', () => Promise.reject(new Error('no store'))],
    ['is as late', () => new Promise((resolve) => setTimeout(resolve, 150, true))],
  ])('is given back with the work not run when the renewal %s', async (_, renew) => {
    const lease = createLease({ ...late(), renew, release: vi.fn(never) });
    const work = vi.fn(async () => {});
    const run = runUnderLease(lease, work);
    await vi.advanceTimersByTimeAsync(150);
    await expect(run).resolves.toMatchObject({ outcome: 'busy' });
    expect(work).not.toHaveBeenCalled();
    expect(lease.release).toHaveBeenCalledOnce();
    expect(lease.finish).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test.each([true, false])(
  'a renewal that is answered %s after the work neither goes on nor aborts the signal',
  async (said) => {
    const renewal = deferred<boolean>();
    const work = deferred<void>();
    let signal = AbortSignal.abort();
    const ended = runUnderLease(createLease({ renew: () => renewal.promise }), (given) => {
      signal = given;
      return work.promise;
    });
    await vi.advanceTimersByTimeAsync(100);
    work.resolve();
    await ended;
    renewal.resolve(said);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(signal.aborted).toBe(false);
  },
);

test('a lease that seems lost is finished all the same when no other holder took it', async () => {
  const lease = createLease({ renew: () => Promise.reject(new Error('reset')) });
  const work = deferred<void>();
  const ended = runUnderLease(lease, () => work.promise);
  await vi.advanceTimersByTimeAsync(300);
  work.resolve();
  expect(await ended).toMatchObject({ outcome: 'processed' });
});

test('the timers of a lease do not keep the process from ending', async () => {
  vi.useRealTimers();
  const count = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = count();
  const work = deferred<void>();
  const ended = runUnderLease(createLease(), () => work.promise);
  expect(count()).toBe(before);
  work.resolve();
  await ended;
});

test('a lease is kept where timers are numbers, as in Workers', async () => {
  const start = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (...given: Parameters<typeof start>) => Number(start(...given)));
  const lease = createLease();
  const ended = runUnderLease(lease, () => new Promise((end) => start(end, 300)));
  await vi.advanceTimersByTimeAsync(300).finally(() => vi.unstubAllGlobals());
  await expect(ended).resolves.toMatchObject({ outcome: 'processed' });
  expect(lease.renew).toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
