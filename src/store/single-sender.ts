import { MerchantPaymentsError } from '../errors.js';
import type { Tables } from './backend.js';
import {
  assertSame,
  isSame,
  notGranted,
  notReplaceable,
  notStoredInTime,
  referenceOfAttempt,
  unknownReference,
} from './errors.js';
import type { StoreClient } from './options.js';
import { isOver } from './order-steps.js';
import type { Intent, PaymentRow } from './payment-row.js';
import { sendIfGranted, type Turn, type Wanted } from './sending.js';
import { mayBeOrder } from './steps.js';
import { assertNotAborted, pause, waitFor } from './waiting.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** A payment that this process is sending. */
interface Running {
  /** Undefined if the payment was already recorded. */
  readonly intent: Intent | undefined;
  readonly turn: Promise<Turn>;
}

/** What became of a payment that was to be sent. */
export interface Sent extends Turn {
  readonly stored: PaymentRow;
  /** Whether a call for the order means another attempt than this one. */
  readonly isOver: boolean;
}

/** Lets one call at a time send a payment, in this process and in others, and waits with the rest. */
export class SingleSender {
  readonly #backend: Tables;
  readonly #client: StoreClient;
  readonly #running = new Map<string, Running>();

  constructor(backend: Tables, client: StoreClient) {
    this.#backend = backend;
    this.#client = client;
  }

  /**
   * Sends the payment, or waits for the caller that does, until the call's deadline.
   *
   * @throws {RequestAbortedError} when the signal is already aborted
   * @throws {StoreError} like {@link nextStep}
   */
  async send(wanted: Wanted): Promise<Sent> {
    const { options, timeoutMs } = wanted;
    assertNotAborted(options?.signal);
    const endsAtMs = performance.now() + timeoutMs;
    for (let pauseMs = 0; ; pauseMs = nextPause(pauseMs)) {
      const turn = await this.#turn(wanted, endsAtMs);
      const leftMs = endsAtMs - performance.now();
      const next = nextStep(turn, wanted, leftMs <= 0);
      if (next === 'return' || next === 'return-over') {
        return { ...turn, stored: turn.stored as PaymentRow, isOver: next === 'return-over' };
      }
      if (next === 'wait') await this.#waitForOther(wanted, endsAtMs);
      // At first, another sender gave up between the claim and the read. If that repeats, the store is at fault.
      else if (pauseMs > 0) await pause(Math.min(pauseMs, leftMs), options?.signal);
    }
  }

  /** Polls until the process that is sending the payment has finished, or until the deadline. */
  async #waitForOther({ key, options }: Wanted, endsAtMs: number): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = nextPause(pauseMs)) {
      const leftMs = endsAtMs - performance.now();
      if (leftMs <= 0) return;
      await pause(Math.min(pauseMs, leftMs), options?.signal);
      const stored = await this.#backend.read(key);
      if (stored?.state !== 'sending') return;
    }
  }

  /** Sends a payment that was recorded when it was listed. */
  async resend(wanted: Wanted): Promise<Turn> {
    for (;;) {
      const running = this.#running.get(wanted.key);
      if (running === undefined) return this.#start(wanted);
      // The other call may have been cancelled, which leaves the payment recorded: then it is sent here.
      const turn = await running.turn.catch(() => undefined);
      const isLeft = turn === undefined || turn.stored?.state === 'recorded';
      if (!isLeft) return { ...turn, replayed: true };
    }
  }

  async #turn(wanted: Wanted, endsAtMs: number): Promise<Turn> {
    for (;;) {
      const running = this.#running.get(wanted.key);
      if (running === undefined) return await this.#start(wanted);
      const turn = await this.#join(running, wanted, endsAtMs);
      if (turn !== undefined) return turn;
    }
  }

  #start(wanted: Wanted): Promise<Turn> {
    const run = async (): Promise<Turn> => {
      try {
        return await sendIfGranted({ backend: this.#backend, client: this.#client }, wanted);
      } finally {
        this.#running.delete(wanted.key);
      }
    };
    const turn = run();
    this.#running.set(wanted.key, { intent: wanted.intent, turn });
    return turn;
  }

  /** Waits for another call of this process. Resolves with undefined if this call must send the payment itself. */
  async #join(
    { intent: other, turn }: Running,
    { key, intent, options, declined }: Wanted,
    endsAtMs: number,
  ): Promise<Turn | undefined> {
    const isTheSame = isSame(other, intent);
    // What is stored decides which of the two is wrong.
    const known = isTheSame ? undefined : await this.#backend.read(key);
    if (known && declined && isOver(known, declined)) return { stored: known, replayed: true };
    if (known !== undefined && !isFree(known, intent)) assertSame(known, intent);
    const hasEnded = await waitFor(turn, endsAtMs - performance.now(), options?.signal);
    if (!hasEnded) return { stored: await this.#backend.read(key), replayed: true };
    try {
      const { stored, error, isPaid } = await turn;
      const mayTry = error !== undefined && stored !== undefined && isFree(stored, intent);
      if (mayTry && (isCallersOwn(error) || !isTheSame)) return undefined;
      return { stored, replayed: true, error, isPaid };
    } catch (error) {
      if (isCallersOwn(error) || !isTheSame) return undefined;
      throw error;
    }
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
  { stored, replayed, error, isPaid }: Turn,
  { intent, declined }: Wanted,
  isLate: boolean,
): 'return' | 'return-over' | 'claim' | 'wait' {
  if (stored === undefined) throw intent === undefined ? unknownReference() : notStoredInTime();
  if (!mayBeOrder(stored, intent)) throw referenceOfAttempt();
  if (replayed && declined && (isPaid || isOver(stored, declined))) return 'return-over';
  if (isPaid) throw notReplaceable('paid');
  // With an error, it was sent just now, by a call that this one waited for.
  if (replayed && error === undefined && isFree(stored, intent)) {
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

// The other call ended by its own signal or timeout, before the service could create anything.
function isCallersOwn(error: unknown): boolean {
  return (
    error instanceof MerchantPaymentsError &&
    error.safeToRetry === true &&
    (error.code === 'ABORTED' || error.code === 'TIMEOUT')
  );
}
