import { StoreError } from '../../errors.js';
import type { ChangeResult } from '../callback-store.js';

/** A claim that a store grants for a limited time, under a unique fencing token. */
export interface Lease {
  /** How long the store grants it, in milliseconds. */
  readonly durationMs: number;
  /** For how long it is renewed at most, in milliseconds from {@link Lease.askedAtMs}. */
  readonly renewForMs: number;
  /** When it was requested, by `performance.now()`: the store can't have started its clock earlier. */
  readonly askedAtMs: number;
  /** Extends the lease. Resolves to false if another owner holds it. Must settle within one lease. */
  renew(): Promise<boolean>;
  /** Records the change as processed and releases the lease. Resolves to false if another owner holds it. */
  finish(): Promise<boolean>;
  /** Releases the lease after the work has thrown, and says what became of the change. It never rejects. */
  fail(error: unknown): Promise<ChangeResult>;
  /** Releases the lease without recording the change, unless another owner holds it. */
  release(): Promise<void>;
}

/**
 * Runs `work`, and renews the lease every third of its duration. Renewal ends after `renewForMs`, or work that hangs in a
 * live process would keep its order busy indefinitely. The signal aborts before another process can claim the order, unless
 * this process is suspended.
 *
 * @returns `busy`, without running the work, if too little of the lease was left and it could not be renewed
 * @throws what the store throws when it records the change; the lease is released
 * @throws {StoreError} `LEASE_LOST` if another process held the lease when `work` was done: nothing was recorded
 */
export async function runUnderLease(
  lease: Lease,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<ChangeResult> {
  const grantedAtMs = hasEnoughLeft(lease, lease.askedAtMs)
    ? lease.askedAtMs
    : await renewFirst(lease);
  if (grantedAtMs === undefined) {
    // Not awaited: the store is already slow or failing.
    lease.release().catch(() => undefined);
    return { outcome: 'busy' };
  }
  const controller = new AbortController();
  const stopRenewing = keepRenewing(lease, grantedAtMs, () => controller.abort(leaseLost()));
  try {
    await work(controller.signal);
  } catch (error) {
    return await lease.fail(error);
  } finally {
    stopRenewing();
  }
  const finished = await lease.finish().catch((error: unknown) => {
    // Not awaited: a store that has just failed may take as long to fail again.
    lease.release().catch(() => undefined);
    throw error;
  });
  if (!finished) throw leaseLost();
  return { outcome: 'processed' };
}

function hasEnoughLeft({ durationMs }: Lease, askedAtMs: number): boolean {
  return performance.now() - askedAtMs < durationMs / 2;
}

/** When the renewal was requested, if it was granted and enough of it is left. */
async function renewFirst(lease: Lease): Promise<number | undefined> {
  const askedAtMs = performance.now();
  const renewed = await lease.renew().catch(() => undefined);
  return renewed && hasEnoughLeft(lease, askedAtMs) ? askedAtMs : undefined;
}

type Timer = ReturnType<typeof setTimeout>;

function keepRenewing(lease: Lease, grantedAtMs: number, onLost: () => void): () => void {
  const pauseMs = lease.durationMs / 3;
  // Leaves the work time to stop.
  const safeForMs = lease.durationMs * 0.9;
  const renewUntilMs = lease.askedAtMs + lease.renewForMs;
  let confirmedAtMs = grantedAtMs;
  let stopped = false;
  let renewal: Timer;
  let expiry: Timer;

  const stop = (): void => {
    stopped = true;
    clearTimeout(renewal);
    clearTimeout(expiry);
  };
  const lose = (): void => {
    stop();
    onLost();
  };
  const expireAt = (atMs: number): void => {
    clearTimeout(expiry);
    expiry = setTimerAt(Math.min(atMs, renewUntilMs), lose);
  };
  const renew = async (): Promise<void> => {
    const askedAtMs = performance.now();
    if (askedAtMs >= renewUntilMs) return lose();
    // The process was suspended. It may still hold the lease, so give the store time to confirm that.
    if (askedAtMs >= confirmedAtMs + safeForMs) expireAt(askedAtMs + pauseMs);
    const renewed = await lease.renew().catch(() => undefined);
    if (stopped) return;
    if (renewed === false) return lose();
    if (renewed === true) {
      confirmedAtMs = askedAtMs;
      expireAt(confirmedAtMs + safeForMs);
    }
    renewal = setTimerAt((renewed === true ? askedAtMs : performance.now()) + pauseMs, renew);
  };

  expireAt(confirmedAtMs + safeForMs);
  renewal = setTimerAt(confirmedAtMs + pauseMs, renew);
  return stop;
}

function setTimerAt(atMs: number, act: () => void): Timer {
  const timer = setTimeout(act, atMs - performance.now());
  // The timer must not keep the process alive; the work does, if it needs to.
  timer.unref?.();
  return timer;
}

export function leaseLost(): StoreError {
  return new StoreError(
    'LEASE_LOST',
    'The lease on this callback was lost, so another process may have processed it; nothing was recorded. Raise leaseMs or renewForMs, or stop on abort',
  );
}
