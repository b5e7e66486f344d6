import type { VerifiedCallback } from '../callback/options.js';
import { isPromiseLike } from '../callback/record.js';
import { StoreError } from '../errors.js';
import { fieldOf } from '../protocol/own-fields.js';
import type { ChangeOutcome, StoreContext } from '../store/callback-store.js';
import type { Activity } from './activity.js';
import type { PaymentContext, ResolvedReceiverOptions, Settled } from './options.js';
import { report } from './report.js';

interface WorkOptions<Tx>
  extends Pick<ResolvedReceiverOptions<Tx>, 'onPayment' | 'onPaymentTimeoutMs' | 'onError'> {
  readonly activity: Activity;
}

/** A verified callback. */
export interface Received {
  readonly callback: VerifiedCallback;
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
  // Otherwise a polluted Object.prototype could make it one that JavaScript refuses.
  __proto__: null,
  enumerable: true,
  get(this: Context<unknown>) {
    return this.getSignal();
  },
};

/** Has own properties only, so that `{ ...context }` copies all of them. */
class Context<Tx> implements PaymentContext<Tx> {
  readonly tx: Tx;
  readonly stale: boolean;
  readonly current: boolean;
  readonly secondPayment: boolean;
  declare readonly signal: AbortSignal;
  readonly #getSignal: () => AbortSignal;

  constructor(store: StoreContext<Tx>, getSignal: () => AbortSignal) {
    this.tx = store.tx;
    // A merchant's own store may leave these out.
    this.stale = fieldOf(store, 'stale') === true;
    this.current = (fieldOf(store, 'current') as boolean | undefined) ?? !this.stale;
    this.secondPayment = fieldOf(store, 'secondPayment') === true;
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
  #store: StoreContext<Tx> | undefined;
  #controller: AbortController | undefined;
  readonly #stops: (() => void)[] = [];
  #expire: ((error: StoreError) => void) | undefined;
  #state: 'not begun' | 'running' | 'failed' | 'done' = 'not begun';
  /** The store's later answer, if the work exceeded its time limit and continues. */
  late: Promise<ChangeOutcome> | undefined;

  constructor(options: WorkOptions<Tx>, received: Received, caller: Caller) {
    this.#options = options;
    this.#received = received;
    this.#caller = caller;
  }

  /** Whether the store has started the work. */
  get hasBegun(): boolean {
    return this.#state !== 'not begun';
  }

  /** Does the work; called by the store. */
  async run(store: StoreContext<Tx>): Promise<void> {
    if (this.#state !== 'not begun') {
      throw new StoreError('CONTRACT_VIOLATION', 'store.process must run work once');
    }
    this.#state = 'running';
    // Counted separately: a store that has lost its lease may answer before the work has ended.
    this.#options.activity.begin();
    this.#store = store;
    try {
      const working: unknown = this.#work(new Context(store, () => this.#getSignal()));
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

  #work(context: PaymentContext<Tx>): Settled {
    const { callback } = this.#received;
    if (!context.secondPayment) return this.#options.onPayment(callback, context);
    return this.#workOnSecond(callback, context);
  }

  async #workOnSecond(callback: VerifiedCallback, context: PaymentContext<Tx>): Promise<void> {
    await report(this.#options.onError, secondPayment(), callback);
    await this.#options.onPayment(callback, context);
  }

  /**
   * Resolves with the store's answer. If the work exceeds its time limit, this rejects, but the work
   * continues and the store keeps its claim, since the work may still write.
   *
   * @throws {StoreError} `WORK_TIMEOUT`
   */
  inTime(processing: Promise<ChangeOutcome>): Promise<ChangeOutcome> {
    // Only the work has a deadline here, and it is already done.
    if (this.#state === 'done' && processing instanceof Promise) return processing;
    return new Promise((resolve, reject) => {
      this.#expire = (error) => {
        this.late = processing;
        reject(error);
      };
      // A merchant's own store may not return a promise.
      Promise.resolve(processing).then((outcome) => {
        if (outcome === 'processed' && this.#state !== 'done') {
          const message = "store.process must not resolve with 'processed' unless work did";
          reject(new StoreError('CONTRACT_VIOLATION', message));
        } else {
          resolve(outcome);
        }
      }, reject);
    });
  }

  #startTimer(): ReturnType<typeof setTimeout> {
    const { onPaymentTimeoutMs } = this.#options;
    const ask = fieldOf(this.#caller, 'getTimeLimitMs') as Caller['getTimeLimitMs'];
    const limitMs = ask?.call(this.#caller) ?? Number.POSITIVE_INFINITY;
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
    const ask = fieldOf(this.#caller, 'getSignal') as Caller['getSignal'];
    for (const source of [this.#store?.signal, ask?.call(this.#caller)]) {
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

// Without the references, which may identify a customer: onError gets the callback too.
function secondPayment(): StoreError {
  return new StoreError(
    'SECOND_PAYMENT',
    'The service has a second payment for the merchantPaymentReference of this callback: look both up at the service, and refund one if both are paid. attention() of the store lists it, and onPayment gets it with secondPayment: true',
  );
}
