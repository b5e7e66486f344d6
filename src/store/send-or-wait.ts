import {
  assertSame,
  isSame,
  notGranted,
  notReplaceable,
  referenceOfAttempt,
  unknownReference,
} from './errors.js';
import { isOver } from './order-steps.js';
import type { Intent, PaymentRow } from './payment-row.js';
import { type Sender, sendIfGranted, type Turn, type Wanted } from './sending.js';
import { mayBeOrder } from './steps.js';
import { assertNotAborted, pause } from './waiting.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** What became of a payment that was to be sent. */
export interface Sent extends Turn {
  readonly stored: PaymentRow;
  /** Whether a call for the order means another attempt than this one. */
  readonly isOver: boolean;
}

/**
 * Sends the payment, or waits for the caller that does, in this process or another, until the call's deadline.
 *
 * @throws {RequestAbortedError} when the signal is already aborted
 * @throws {StoreError} like {@link nextStep}
 */
export async function sendOrWait(sender: Sender, wanted: Wanted): Promise<Sent> {
  const { options, timeoutMs } = wanted;
  assertNotAborted(options?.signal);
  const endsAtMs = performance.now() + timeoutMs;
  for (let pauseMs = 0; ; pauseMs = nextPause(pauseMs)) {
    const turn = await sendIfGranted(sender, wanted);
    const leftMs = endsAtMs - performance.now();
    const next = nextStep(turn, wanted, leftMs <= 0);
    if (next === 'return' || next === 'return-over') {
      return { ...turn, stored: turn.stored as PaymentRow, isOver: next === 'return-over' };
    }
    if (next === 'wait') await waitForOther(sender, wanted, endsAtMs);
    // At first, another sender gave up between the claim and the read. If that repeats, the store is at fault.
    else if (pauseMs > 0) await pause(Math.min(pauseMs, leftMs), options?.signal);
  }
}

/** Polls until the caller that is sending the payment has finished, or until the deadline. */
async function waitForOther(
  { backend }: Sender,
  { key, options }: Wanted,
  endsAtMs: number,
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = nextPause(pauseMs)) {
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) return;
    await pause(Math.min(pauseMs, leftMs), options?.signal);
    const stored = await backend.read(key);
    if (stored?.state !== 'sending') return;
  }
}

function nextPause(pauseMs: number): number {
  return Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/**
 * What a call does after a turn: it returns what is stored, claims the payment, or waits for the caller that sends it.
 *
 * @throws {StoreError} when nothing is stored, another payment is, or the payment can't be claimed in time
 */
function nextStep(
  { stored, replayed, isPaid }: Turn,
  { intent, declined }: Wanted,
  isLate: boolean,
): 'return' | 'return-over' | 'claim' | 'wait' {
  if (stored === undefined) throw unknownReference();
  if (!mayBeOrder(stored, intent)) throw referenceOfAttempt();
  if (replayed && declined && (isPaid || isOver(stored, declined))) return 'return-over';
  if (isPaid) throw notReplaceable('paid');
  if (replayed && isFree(stored, intent)) {
    if (isLate) throw notGranted();
    return 'claim';
  }
  assertSame(stored, intent);
  return replayed && stored.state === 'sending' && !isLate ? 'wait' : 'return';
}

/** Whether the payment may be claimed. */
function isFree(stored: PaymentRow, intent: Intent | undefined): boolean {
  if (stored.replacedBy !== undefined) return false;
  if (stored.state === 'rejected') return true;
  return stored.state === 'recorded' && isSame(stored, intent);
}
