import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Lease, runUnderLease } from '../../src/inbox/lease.js';

const never = () => new Promise<never>(() => {});

function createLease(more: Partial<Lease> = {}): Lease {
  return {
    durationMs: 300,
    askedAtMs: performance.now(),
    renew: vi.fn(async () => true),
    finish: vi.fn(async () => true),
    release: vi.fn(async () => {}),
    ...more,
  };
}

/** Runs work that does not end, and gives its signal. */
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
  ])('by %s gives the lease back and stops renewing it', async (_, work) => {
    const lease = createLease({ release: vi.fn(() => Promise.reject(new Error('no store'))) });
    await expect(runUnderLease(lease, work)).rejects.toThrow('the work failed');
    expect(lease.release).toHaveBeenCalledOnce();
    expect(lease.finish).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rejects with LEASE_LOST when the lease is no longer ours', async () => {
    const lease = createLease({ finish: async () => false });
    const run = runUnderLease(lease, async () => {});
    await expect(run).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(lease.release).not.toHaveBeenCalled();
  });

  test('rejects with the failure to finish at once, and gives the lease back meanwhile', async () => {
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
  ])('aborts the signal when its duration has passed and every renewal %s', async (_, renew) => {
    const signal = await begin(createLease({ renew }));
    await vi.advanceTimersByTimeAsync(299);
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

  test('lives on after a pause of the process when the store says that it is ours yet', async () => {
    const renew = vi.fn(() => new Promise<boolean>((resolve) => setTimeout(resolve, 50, true)));
    const signal = await begin(createLease({ askedAtMs: performance.now() - 1_000, renew }));
    await vi.advanceTimersByTimeAsync(300);
    expect(signal.aborted).toBe(false);
    expect(renew.mock.calls.length).toBeGreaterThan(1);
  });
});
