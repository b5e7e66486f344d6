import { InboxError } from '../errors.js';
import type { InboxOutcome } from './inbox.js';

type Granted = 'claimed' | 'claimed-stale';

/**
 * A store's answer to a claim. `claimed-stale` grants it for a change older than the last one processed:
 * in a second step the watermark could be another one.
 */
export type ClaimAnswer = Granted | Exclude<InboxOutcome, 'processed'>;

const ANSWERS: Readonly<Record<ClaimAnswer, true>> = {
  claimed: true,
  'claimed-stale': true,
  duplicate: true,
  stale: true,
  busy: true,
};

/** False for anything else that a driver gives: an unknown answer must not run the work. */
export function isClaimAnswer(value: unknown): value is ClaimAnswer {
  return typeof value === 'string' && Object.hasOwn(ANSWERS, value);
}

export function isClaimed(answer: ClaimAnswer): answer is Granted {
  return answer === 'claimed' || answer === 'claimed-stale';
}

/** A claim that a store grants for a time, with a unique token. */
export interface Lease {
  /** How long the store grants it, in milliseconds. */
  readonly durationMs: number;
  /** How long it is renewed at most, in milliseconds from {@link Lease.askedAtMs}. */
  readonly renewForMs: number;
  /** When it was asked for, by `performance.now()`: the store can't have begun to count before. */
  readonly askedAtMs: number;
  /** Extends it. False when it is no longer ours. Settles, sooner than a lease lives. */
  renew(): Promise<boolean>;
  /** Marks the event as processed and gives the lease back, if it is still ours. False when not. */
  finish(): Promise<boolean>;
  /** Gives the lease back with the event not processed, if it is still ours. */
  release(): Promise<void>;
}

/**
 * Runs `work` while renewing the lease three times within its duration, but not for ever: what hangs
 * in a process that lives would keep its payment busy. The signal aborts before another process may
 * claim, as long as this one is not stopped.
 *
 * @returns `busy`, with the lease given back and the work not run, when too little was left of the
 * lease to begin and it could not be renewed
 * @throws what `work` throws, or the store at the end of it, with the lease given back
 * @throws {InboxError} `LEASE_LOST` when another process had the lease by the time `work` was done:
 * nothing was recorded
 */
export async function runUnderLease(
  lease: Lease,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<'processed' | 'busy'> {
  const grantedAtMs = hasEnoughLeft(lease, lease.askedAtMs)
    ? lease.askedAtMs
    : await renewFirst(lease);
  if (grantedAtMs === undefined) {
    // Not waited for: the store is slow or failing already.
    lease.release().catch(() => undefined);
    return 'busy';
  }
  const controller = new AbortController();
  const stopRenewing = keepRenewing(lease, grantedAtMs, () => controller.abort(leaseLost()));
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
  return 'processed';
}

function hasEnoughLeft({ durationMs }: Lease, askedAtMs: number): boolean {
  return performance.now() - askedAtMs < durationMs / 2;
}

/** When the renewal was asked for, if it was granted with enough left of it. */
async function renewFirst(lease: Lease): Promise<number | undefined> {
  const askedAtMs = performance.now();
  const renewed = await lease.renew().catch(() => undefined);
  return renewed && hasEnoughLeft(lease, askedAtMs) ? askedAtMs : undefined;
}

type Timer = ReturnType<typeof setTimeout>;

function keepRenewing(lease: Lease, grantedAtMs: number, onLost: () => void): () => void {
  const pauseMs = lease.durationMs / 3;
  // The work needs a while to stop in.
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
    // The whole process was stopped. The lease may still be ours, so the store gets time to say so.
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
  // The work decides whether the process may end.
  timer.unref?.();
  return timer;
}

function leaseLost(): InboxError {
  return new InboxError(
    'LEASE_LOST',
    'The lease on this callback was lost while it was being processed, so another process may have processed it too; nothing was recorded here. Raise leaseMs (or renewForMs, for work that takes long), or stop the work when its signal aborts',
  );
}
