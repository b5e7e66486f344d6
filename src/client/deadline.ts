import { onAbort } from './abort-relay.js';
import { timers } from './timers.js';

/** Why a call was given up before it ended. */
export type GiveUpReason = 'timeout' | 'aborted';

/**
 * The one deadline of a call, together with its caller's signal. Costs a timer and no
 * AbortSignal of its own: making one per call takes longer than the rest of the bookkeeping.
 */
export class Deadline {
  /** Set once the call is to end without an answer. */
  gaveUp: GiveUpReason | undefined;
  /**
   * Called once, when `gaveUp` gets its value. Whoever is at work sets it, in place of whoever was
   * at work before.
   */
  onGiveUp: (() => void) | undefined;
  /** Whether a request is under way, so that its answer may wait in the socket already. */
  inFlight = false;

  readonly timeoutMs: number;
  readonly #endsAtMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: (() => void) | undefined;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.timeoutMs = timeoutMs;
    this.#endsAtMs = timers.now() + timeoutMs;
    if (signal?.aborted) this.giveUp('aborted');
    else if (signal) this.#stopListening = onAbort(signal, () => this.giveUp('aborted'));
    // Last: a signal that throws must not leave a timer behind.
    this.#timer = timers.setTimeout(expire, timeoutMs, this);
  }

  get remainingMs(): number {
    return this.#endsAtMs - timers.now();
  }

  giveUp(reason: GiveUpReason): void {
    if (this.gaveUp !== undefined) return;
    this.gaveUp = reason;
    this.onGiveUp?.();
  }

  /** Waits, or returns early when the call is given up. */
  async wait(delayMs: number): Promise<void> {
    if (this.gaveUp !== undefined) return;
    await new Promise<void>((resolve) => {
      const timer = timers.setTimeout(resolve, delayMs);
      this.onGiveUp = () => {
        timers.clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The work's value, or nothing when the call is given up first. Rejects as the work does. */
  race<Value>(work: PromiseLike<Value>): Promise<Value | undefined> {
    this.inFlight = true;
    const racing = new Promise<Value | undefined>((resolve, reject) => {
      this.onGiveUp = () => resolve(undefined);
      if (this.gaveUp !== undefined) resolve(undefined);
      // Also after giving up: a rejection that nobody handles would end the process.
      work.then(resolve, reject);
    });
    return racing.finally(() => {
      this.inFlight = false;
    });
  }

  /** Must be called when the call has ended: frees the timer and the caller's signal. */
  end(): void {
    timers.clearTimeout(this.#timer);
    this.#stopListening?.();
  }
}

// Shared by all deadlines, so that no closure is made per call.
function expire(deadline: Deadline): void {
  // After a stall of the event loop timers run before sockets are read: an answer that arrived in
  // time must not become a timeout.
  if (deadline.inFlight) timers.setImmediate(giveUp, deadline);
  else giveUp(deadline);
}

function giveUp(deadline: Deadline): void {
  deadline.giveUp('timeout');
}
