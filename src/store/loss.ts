import type { CreatePaymentInput } from '../protocol/payment.js';
import type { StoreContext } from './callback-store.js';
import { readBody } from './records.js';

export function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  return new Error('the driver rejected with no Error', { cause: reason });
}

/** Whether a connection is lost, and why: an AbortController whose signal, which costs much, is made once it is read. */
export class Loss {
  /** Why it is lost; undefined if it is not. */
  reason: Error | undefined;
  #controller: AbortController | undefined;
  #giveUp: ((reason: Error) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wakesMs = Number.POSITIVE_INFINITY;
  #limit = NO_LIMIT;

  /** Aborts with {@link reason}. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.reason !== undefined) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  /** Keeps the first reason, because later ones are its consequences. */
  report(reason: Error): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.#controller?.abort(reason);
    this.#giveUp?.(reason);
  }

  /** Settles like `running`, or rejects at the loss, since `running` may hang. Only one call at a time. */
  orSettled<Result>(running: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      running.then(resolve, reject);
      if (this.reason !== undefined) reject(this.reason);
    });
  }

  /** Reports a loss after `timeoutMs`, unless another limit replaces this one. One timer for all: most never need it. */
  limit(
    timeoutMs: number,
    createError: (timeoutMs: number) => Error,
    dueMs = performance.now() + timeoutMs,
  ): void {
    this.#limit = { timeoutMs, createError, dueMs };
    if (dueMs < this.#wakesMs) this.#sleep(performance.now());
  }

  /** Nothing follows. */
  unlimited(): void {
    this.#limit = NO_LIMIT;
    clearTimeout(this.#timer);
    this.#wakesMs = Number.POSITIVE_INFINITY;
  }

  #sleep(nowMs: number): void {
    clearTimeout(this.#timer);
    this.#wakesMs = this.#limit.dueMs;
    this.#timer = setTimeout(() => this.#wake(), this.#limit.dueMs - nowMs);
  }

  #wake(): void {
    const nowMs = performance.now();
    const { dueMs, timeoutMs, createError } = this.#limit;
    // A timer may fire up to a millisecond early.
    if (dueMs - nowMs >= 1) this.#sleep(nowMs);
    else this.report(createError(timeoutMs));
  }
}

const NO_LIMIT = {
  timeoutMs: 0,
  dueMs: Number.POSITIVE_INFINITY,
  createError: (timeoutMs: number) => new Error(`late after ${timeoutMs} ms`),
};

/** What the store knows of a change when its work begins. `body` is that of the payment's creation. */
interface Found extends Pick<StoreContext<never>, 'order' | 'current' | 'secondPayment'> {
  readonly body?: string | undefined;
}

/** The argument of `work`. Its signal is created on first use, because it is expensive and most work never reads it. */
export class WorkContext<Tx> implements StoreContext<Tx> {
  readonly tx: Tx;
  readonly order: string;
  readonly current: boolean;
  readonly secondPayment: boolean;
  readonly #body: string | undefined;
  readonly #transaction: { readonly signal: AbortSignal };

  constructor(tx: Tx, found: Found, transaction: { readonly signal: AbortSignal }) {
    this.tx = tx;
    this.order = found.order;
    this.current = found.current;
    this.secondPayment = found.secondPayment;
    this.#body = found.body;
    this.#transaction = transaction;
  }

  get input(): CreatePaymentInput | undefined {
    return this.#body === undefined ? undefined : readBody(this.#body).input;
  }

  get signal(): AbortSignal {
    return this.#transaction.signal;
  }
}
