import type { VerifiedCallback } from '../callback/options.js';
import { isPromiseLike } from '../callback/record.js';
import { StoreError } from '../errors.js';
import type { InboxContext, InboxOutcome } from '../store/inbox.js';
import type { SettleOutcome } from '../store/outbox.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import type { Activity } from './activity.js';
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
  /** The payment as received. The merchant's code may change that of `callback`. */
  readonly payment: PaymentStatusRecord;
}

/** What an adapter knows about a request's sender and the runtime. */
export interface Caller {
  /** A signal that aborts when the client disconnects. Called only if the signal is used. */
  getSignal?(): AbortSignal | undefined;
  /** How long `onPayment` may take before the runtime ends the request, in milliseconds. */
  getTimeLimitMs?(): number | undefined;
}

// One getter for all contexts: an object literal would create one each time, at three times the cost.
const SIGNAL = {
  enumerable: true,
  get(this: Context<unknown>) {
    return this.getSignal();
  },
};

/** Has own properties only, so that `{ ...context }` copies all of them. */
class Context<Tx> implements PaymentContext<Tx> {
  readonly tx: Tx;
  readonly stale: boolean;
  readonly secondPayment: boolean;
  declare readonly signal: AbortSignal;
  readonly #getSignal: () => AbortSignal;

  constructor(inbox: InboxContext<Tx>, secondPayment: boolean, getSignal: () => AbortSignal) {
    this.tx = inbox.tx;
    // A merchant's own inbox may leave it out.
    this.stale = inbox.stale === true;
    this.secondPayment = secondPayment;
    this.#getSignal = getSignal;
    Object.defineProperty(this, 'signal', SIGNAL);
  }

  getSignal(): AbortSignal {
    return this.#getSignal();
  }
}

/** One call of `onPayment`: its context, its deadline and its result. */
export class PaymentWork<Tx> {
  readonly #options: WorkOptions<Tx>;
  readonly #received: Received;
  readonly #caller: Caller;
  #inbox: InboxContext<Tx> | undefined;
  #controller: AbortController | undefined;
  readonly #stops: (() => void)[] = [];
  #expire: ((error: StoreError) => void) | undefined;
  #state: 'not begun' | 'running' | 'failed' | 'done' = 'not begun';
  #isSettled = false;
  /** The inbox's later answer, if the work exceeded its time limit and continues. */
  late: Promise<InboxOutcome> | undefined;

  constructor(options: WorkOptions<Tx>, received: Received, caller: Caller) {
    this.#options = options;
    this.#received = received;
    this.#caller = caller;
  }

  /** Whether the inbox has started the work. */
  get hasBegun(): boolean {
    return this.#state !== 'not begun';
  }

  /** Whether the work's transaction settled the payment, which a rollback undoes. */
  get hasSettled(): boolean {
    return this.#isSettled;
  }

  /**
   * Does the work; called by the inbox.
   *
   * @param settled the result of settling, if the payment is already settled
   */
  async run(inbox: InboxContext<Tx>, settled: SettleOutcome | undefined): Promise<void> {
    if (this.#state !== 'not begun') {
      throw new StoreError('CONTRACT_VIOLATION', 'inbox.process must run work once');
    }
    this.#state = 'running';
    // Counted separately: an inbox that has lost its lease may answer before the work has ended.
    this.#options.activity.begin();
    this.#inbox = inbox;
    try {
      const working: unknown = this.#work(inbox, settled);
      // Work that has returned needs no deadline: no timer could have fired meanwhile.
      if (isPromiseLike(working)) await this.#withinTime(working);
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
    const isSecond = await settlement.settleInTransaction(payment, tx, settled);
    this.#isSettled = true;
    const context = createContext(isSecond);
    if (isSecond) await settlement.reportSecondPayment(callback, context);
    await this.#options.onPayment(callback, context);
  }

  /**
   * Resolves with the inbox's answer. If the work exceeds its time limit, this rejects, but the work
   * continues and the inbox keeps its claim, since the work may still write.
   *
   * @throws {StoreError} `WORK_TIMEOUT`
   */
  inTime(processing: Promise<InboxOutcome>): Promise<InboxOutcome> {
    // Only the work has a deadline here, and it is already done.
    if (this.#state === 'done' && processing instanceof Promise) return processing;
    return new Promise((resolve, reject) => {
      this.#expire = (error) => {
        this.late = processing;
        reject(error);
      };
      // A merchant's own inbox may not return a promise.
      Promise.resolve(processing).then((outcome) => {
        if (outcome === 'processed' && this.#state !== 'done') {
          const message = "inbox.process must not resolve with 'processed' unless work did";
          reject(new StoreError('CONTRACT_VIOLATION', message));
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
    const error = new StoreError(
      'WORK_TIMEOUT',
      `onPayment did not return within ${afterMs} ms (${limit}), so the service got a 500 and retries. The payment stays busy until onPayment returns: set a deadline on everything it waits for, stop when the signal aborts, and leave slow work to a queue`,
    );
    this.#expire?.(error);
    this.#getSignal();
    this.#controller?.abort(error);
  }

  /** Created on first use: it costs as much as everything else here, and most handlers never use it. */
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

  // Not AbortSignal.any: on Node 20 listeners of such a signal are never freed.
  #listenTo(source: AbortSignal, controller: AbortController): void {
    const abort = (): void => controller.abort(source.reason);
    source.addEventListener('abort', abort);
    this.#stops.push(() => source.removeEventListener('abort', abort));
  }

  #stopListening(): void {
    for (const stop of this.#stops) stop();
  }
}
