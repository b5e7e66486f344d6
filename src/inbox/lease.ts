import { InboxError } from '../errors.js';

/** A claim that a store grants for a time, with a token that nobody else has. */
export interface Lease {
  /** How long the store grants it, in milliseconds. */
  readonly durationMs: number;
  /** When it was asked for, by `performance.now()`: the store can't have begun to count before. */
  readonly askedAtMs: number;
  /** Extends it. False when it is no longer ours. */
  renew(): Promise<boolean>;
  /** Marks the event as processed and gives the lease back, if it is still ours. False when not. */
  finish(): Promise<boolean>;
  /** Gives the lease back with the event not processed, if it is still ours. */
  release(): Promise<void>;
}

/**
 * Runs `work` while renewing the lease three times within its duration.
 *
 * @throws what `work` throws, or the store at the end of it, with the lease given back
 * @throws {InboxError} `LEASE_LOST` when the lease was somebody else's by the time `work` was done:
 * nothing was recorded
 */
export async function runUnderLease(
  lease: Lease,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const stopRenewing = keepRenewing(lease, () => controller.abort(leaseLost()));
  try {
    await work(controller.signal);
  } catch (error) {
    // What the work threw matters; a lease that can't be given back expires by itself.
    await lease.release().catch(() => undefined);
    throw error;
  } finally {
    stopRenewing();
  }
  const finished = await lease.finish().catch((error: unknown) => {
    // Not waited for: a store that just failed may take as long again to say so.
    lease.release().catch(() => undefined);
    throw error;
  });
  if (!finished) throw leaseLost();
}

function keepRenewing(lease: Lease, onLost: () => void): () => void {
  const pauseMs = lease.durationMs / 3;
  let confirmedAtMs = lease.askedAtMs;
  let stopped = false;
  let timer: ReturnType<typeof setTimeout>;

  const renew = async (): Promise<void> => {
    const askedAtMs = performance.now();
    // A store that hangs must not keep the loss of the lease from being noticed. After a pause of
    // the whole process the renewal still gets its time: the lease may be ours yet.
    const patienceMs = Math.max(confirmedAtMs + lease.durationMs - askedAtMs, pauseMs);
    const renewed = await answerWithin(patienceMs, lease.renew());
    if (stopped) return;
    if (renewed === true) confirmedAtMs = askedAtMs;
    // A store that can't be reached may have let the lease expire meanwhile.
    const expired = performance.now() - confirmedAtMs >= lease.durationMs;
    if (renewed === false || expired) onLost();
    else schedule(renewed === true ? confirmedAtMs + pauseMs - performance.now() : pauseMs);
  };
  const schedule = (delayMs: number): void => {
    timer = setTimeout(renew, delayMs);
    // Whether the process may end is for the work to say.
    timer.unref?.();
  };

  schedule(confirmedAtMs + pauseMs - performance.now());
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** What is answered in time; undefined when nothing is, or a failure. */
async function answerWithin<T>(limitMs: number, answer: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const nothing = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined);
    timer.unref?.();
  });
  try {
    return await Promise.race([answer.catch(() => undefined), nothing]);
  } finally {
    clearTimeout(timer);
  }
}

function leaseLost(): InboxError {
  return new InboxError(
    'LEASE_LOST',
    'The lease on this callback was lost while it was being processed, so another process may have processed it too; nothing was recorded here. Raise leaseMs, or stop the work when its signal aborts',
  );
}
