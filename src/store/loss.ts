import type { CreatePaymentInput } from '../protocol/payment.js';
import type { StoreContext } from './callback-store.js';
import { readBody } from './records.js';

export function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  return new Error('the driver rejected with no Error', { cause: reason });
}

/**
 * Whether a connection is lost, and why. Does what an AbortController does at a fraction of its cost, because the
 * signal is created only when the work reads it.
 */
export class Loss {
  #reason: Error | undefined;
  #controller: AbortController | undefined;
  #giveUp: ((reason: Error) => void) | undefined;

  /** Why it is lost; undefined if it is not. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Aborts with {@link reason}. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Keeps the first reason, because later ones are its consequences. */
  report(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#giveUp?.(reason);
  }

  /**
   * Settles like `running`, or rejects at the loss, since `running` may hang or wait for this connection. Only one
   * call at a time.
   */
  orSettled<Result>(running: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      running.then(resolve, reject);
      if (this.#reason !== undefined) reject(this.#reason);
    });
  }

  /** Settles like what `run` returns, however late that is, and reports a loss if it has not settled in time. */
  async within<Result>(
    timeoutMs: number,
    createError: (timeoutMs: number) => Error,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const timer = setTimeout(() => this.report(createError(timeoutMs)), timeoutMs);
    try {
      return await run();
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What the store knows of a change when its work begins. */
interface Found extends Omit<StoreContext<never>, 'tx' | 'signal' | 'input'> {
  /** The body of the payment's creation. */
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
