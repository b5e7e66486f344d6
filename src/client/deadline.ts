import { timers } from '../protocol/timers.js';
import { onAbort } from '../protocol/waiting.js';

/** Why a call was cancelled before it ended. */
export type GiveUpReason = 'timeout' | 'aborted';

/**
 * A call's deadline and its caller's signal in one. It uses a timer, since an AbortSignal per call would take
 * longer than all other bookkeeping.
 */
export class Deadline {
  /** Set when the call must end without an answer. */
  gaveUp: GiveUpReason | undefined;
  /** Called once, when `gaveUp` is set. The current operation owns this callback. */
  onGiveUp: (() => void) | undefined;
  /** Whether a request is under way, whose answer may already wait in the socket. */
  inFlight = false;

  readonly timeoutMs: number;
  readonly #endsAtMs: number;
  readonly #endsAtSystemMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: (() => void) | undefined;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.timeoutMs = timeoutMs;
    this.#endsAtMs = timers.now() + timeoutMs;
    this.#endsAtSystemMs = timers.systemNow() + timeoutMs;
    if (signal?.aborted) this.giveUp('aborted');
    else if (signal) this.#stopListening = onAbort(signal, () => this.giveUp('aborted'));
    this.#timer = timers.setTimeout(() => this.#expire(), timeoutMs);
  }

  get remainingMs(): number {
    return this.#endsAtMs - timers.now();
  }

  /**
   * Ends the call if its time is over. Returns why the call has ended; undefined if it may continue. Reads both clocks:
   * after a stall of the event loop the timer has not run yet, and while a machine is suspended its monotonic clock may
   * stand still. A request sent then would outlast the lease of a store.
   */
  check(): GiveUpReason | undefined {
    if (this.remainingMs <= 0 || timers.systemNow() >= this.#endsAtSystemMs) this.giveUp('timeout');
    return this.gaveUp;
  }

  #expire(): void {
    // After a stall of the event loop timers run before sockets are read: an answer that arrived in
    // time must not become a timeout.
    if (this.inFlight) timers.setImmediate(() => this.giveUp('timeout'));
    else this.giveUp('timeout');
  }

  giveUp(reason: GiveUpReason): void {
    if (this.gaveUp !== undefined) return;
    this.gaveUp = reason;
    this.onGiveUp?.();
  }

  /** Waits; returns early when the call is cancelled, or the client is closed. */
  async wait(delayMs: number, closing: AbortSignal): Promise<void> {
    if (this.gaveUp !== undefined || closing.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timers.clearTimeout(timer);
        stopListening();
        resolve();
      };
      const timer = timers.setTimeout(end, delayMs);
      const stopListening = onAbort(closing, end);
      this.onGiveUp = end;
    });
  }

  /** Resolves to the work's value, or to undefined when the call is cancelled first. Rejects as the work does. */
  race<Value>(work: PromiseLike<Value>): Promise<Value | undefined> {
    this.inFlight = true;
    return new Promise<Value | undefined>((resolve, reject) => {
      this.onGiveUp = () => resolve(undefined);
      if (this.gaveUp !== undefined) resolve(undefined);
      // Even after cancelling: an unhandled rejection would end the process.
      work.then(resolve, reject);
    }).finally(() => {
      this.inFlight = false;
    });
  }

  /** Must be called when the call has ended: frees the timer and the caller's signal. */
  end(): void {
    timers.clearTimeout(this.#timer);
    this.#stopListening?.();
  }
}
