import type { VerifiedCallback } from '../callback/options.js';
import { InboxError } from '../errors.js';
import type { InboxContext, InboxOutcome } from '../inbox/inbox.js';
import type { SettleOutcome } from '../outbox/outbox.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import { within } from '../protocol/within.js';
import type { PaymentContext, ResolvedReceiverOptions, Settled } from './options.js';
import type { Settlement } from './settlement.js';

interface WorkOptions<Tx>
  extends Pick<ResolvedReceiverOptions<Tx>, 'onPayment' | 'onPaymentTimeoutMs'> {
  readonly activity: Activity;
  readonly settlement: Settlement<Tx> | undefined;
}

/** A verified callback. */
export interface Received {
  readonly callback: VerifiedCallback;
  /** Its payment as received. The merchant's code may write to that of `callback`. */
  readonly payment: PaymentStatusRecord;
}

/** What an adapter knows of a request's sender and of its host. */
export interface Caller {
  /** A signal that aborts when the client disconnects. Called when it is needed. */
  getSignal?(): AbortSignal | undefined;
  /** How long `onPayment` may take before the runtime ends the request, in milliseconds. */
  getTimeLimitMs?(): number | undefined;
}

// One getter for all: in an object literal it would be a new one each time, at three times the cost.
const SIGNAL = {
  enumerable: true,
  get(this: Context<unknown>) {
    return this.getSignal();
  },
};

/** Its properties are its own, so that `{ ...context }` has them. */
class Context<Tx> implements PaymentContext<Tx> {
  readonly tx: Tx;
  readonly stale: boolean;
  readonly secondPayment: boolean;
  declare readonly signal: AbortSignal;
  readonly #getSignal: () => AbortSignal;

  constructor(inbox: InboxContext<Tx>, secondPayment: boolean, getSignal: () => AbortSignal) {
    this.tx = inbox.tx;
    // An inbox of the merchant's own may not know.
    this.stale = inbox.stale === true;
    this.secondPayment = secondPayment;
    this.#getSignal = getSignal;
    Object.defineProperty(this, 'signal', SIGNAL);
  }

  getSignal(): AbortSignal {
    return this.#getSignal();
  }
}

/** One call of `onPayment`: its context, its deadline, and whether it was done. */
export class PaymentWork<Tx> {
  readonly #options: WorkOptions<Tx>;
  readonly #received: Received;
  readonly #caller: Caller;
  #inbox: InboxContext<Tx> | undefined;
  #controller: AbortController | undefined;
  readonly #stops: (() => void)[] = [];
  #expire: ((error: InboxError) => void) | undefined;
  #state: 'not begun' | 'running' | 'failed' | 'done' = 'not begun';
  #isSettled = false;
  /** What the inbox will answer; set when the work took too long and goes on. */
  late: Promise<InboxOutcome> | undefined;

  constructor(options: WorkOptions<Tx>, received: Received, caller: Caller) {
    this.#options = options;
    this.#received = received;
    this.#caller = caller;
  }

  /** Whether the inbox has run it. */
  get hasBegun(): boolean {
    return this.#state !== 'not begun';
  }

  /** Whether the payment is settled in its transaction, and not if that is rolled back. */
  get hasSettled(): boolean {
    return this.#isSettled;
  }

  /**
   * What the inbox is to run.
   *
   * @param settled what the callback was to the outbox, where that is known already
   */
  async run(inbox: InboxContext<Tx>, settled: SettleOutcome | undefined): Promise<void> {
    if (this.#state !== 'not begun') {
      throw new InboxError('CONTRACT_VIOLATION', 'inbox.process must run work once');
    }
    this.#state = 'running';
    // Counted apart: an inbox that has lost its lease may answer before the work has ended.
    this.#options.activity.begin();
    this.#inbox = inbox;
    try {
      const working: unknown = this.#work(inbox, settled);
      // What has returned needs no deadline: no timer could have run meanwhile.
      if (isThenable(working)) await this.#withinTime(working);
      this.#state = 'done';
    } catch (error) {
      this.#state = 'failed';
      throw error;
    } finally {
      this.#stopListening();
      this.#options.activity.end();
    }
  }

  async #withinTime(working: PromiseLike<unknown>): Promise<void> {
    const timer = this.#startTimer();
    try {
      await working;
    } finally {
      clearTimeout(timer);
    }
  }

  #work(inbox: InboxContext<Tx>, settled: SettleOutcome | undefined): Settled {
    const { settlement, onPayment } = this.#options;
    const createContext = (secondPayment: boolean) =>
      new Context(inbox, secondPayment, () => this.#getSignal());
    if (settlement === undefined) return onPayment(this.#received.callback, createContext(false));
    return this.#settleAndWork(settlement, inbox.tx, settled, createContext);
  }

  async #settleAndWork(
    settlement: Settlement<Tx>,
    tx: Tx,
    settled: SettleOutcome | undefined,
    createContext: (secondPayment: boolean) => PaymentContext<Tx>,
  ): Promise<void> {
    const { callback, payment } = this.#received;
    const isSecond = await settlement.within(payment, tx, settled);
    this.#isSettled = true;
    const context = createContext(isSecond);
    if (isSecond) await settlement.reportSecond(callback, context);
    await this.#options.onPayment(callback, context);
  }

  /**
   * What the inbox answers, unless the work takes too long: then it goes on, and the inbox keeps its
   * claim, since the work may still write.
   *
   * @throws {InboxError} `WORK_TIMEOUT`
   */
  inTime(processing: Promise<InboxOutcome>): Promise<InboxOutcome> {
    // Nothing is left that has a deadline here.
    if (this.#state === 'done' && processing instanceof Promise) return processing;
    return new Promise((resolve, reject) => {
      this.#expire = (error) => {
        this.late = processing;
        reject(error);
      };
      // An inbox of the merchant's own may answer without a promise.
      Promise.resolve(processing).then((outcome) => {
        if (outcome === 'processed' && (this.#state === 'running' || this.#state === 'failed')) {
          const message = "inbox.process must not resolve with 'processed' unless work did";
          reject(new InboxError('CONTRACT_VIOLATION', message));
        } else {
          resolve(outcome);
        }
      }, reject);
    });
  }

  #startTimer(): ReturnType<typeof setTimeout> {
    const { onPaymentTimeoutMs } = this.#options;
    const limitMs = this.#caller.getTimeLimitMs?.() ?? Number.POSITIVE_INFINITY;
    return limitMs < onPaymentTimeoutMs
      ? setTimeout(() => this.#expireWork(limitMs, "the function's own time limit"), limitMs)
      : setTimeout(
          () => this.#expireWork(onPaymentTimeoutMs, 'onPaymentTimeoutMs'),
          onPaymentTimeoutMs,
        );
  }

  #expireWork(afterMs: number, limit: string): void {
    const error = new InboxError(
      'WORK_TIMEOUT',
      `onPayment did not return within ${afterMs} ms (${limit}), so the service got a 500 and retries. The payment stays busy until onPayment returns: set a deadline on everything it waits for, stop when the signal aborts, and leave slow work to a queue`,
    );
    this.#expire?.(error);
    this.#getSignal();
    this.#controller?.abort(error);
  }

  /** Made when it is asked for: it costs as much as the rest, and most handlers never look. */
  #getSignal(): AbortSignal {
    this.#controller ??= this.#createController();
    return this.#controller.signal;
  }

  #createController(): AbortController {
    const controller = new AbortController();
    for (const source of [this.#inbox?.signal, this.#caller.getSignal?.()]) {
      if (source?.aborted) controller.abort(source.reason);
      else if (source !== undefined) this.#listenTo(source, controller);
    }
    return controller;
  }

  // Not AbortSignal.any: on Node 20 a listener on such a signal is never freed.
  #listenTo(source: AbortSignal, controller: AbortController): void {
    const abort = (): void => controller.abort(source.reason);
    source.addEventListener('abort', abort);
    this.#stops.push(() => source.removeEventListener('abort', abort));
  }

  #stopListening(): void {
    for (const stop of this.#stops) stop();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

/** Counts what is under way, so that a process can wait for it before it exits. */
export class Activity {
  #running = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves as soon as nothing is under way. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** As {@link idle}, for a limited time. */
  async idleWithin(limitMs: number): Promise<void> {
    await within(limitMs, this.idle(), () => undefined);
  }
}
