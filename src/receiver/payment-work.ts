import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import type { VerifiedCallback } from '../callback/options.js';
import { isPromiseLike } from '../callback/record.js';
import { StoreError } from '../errors.js';
import { fieldOf } from '../protocol/own-fields.js';
import type { Awaitable } from '../protocol/waiting.js';
import type { StatusChange, StoreContext } from '../store/callback-store.js';
import type { BodyLimits } from './body.js';
import type { PaymentContext, ResolvedReceiverOptions } from './options.js';
import { type DeliveryResult, toDeliveryResult, toFailed } from './reply.js';
import { report } from './report.js';

/** Counts running work, so that a process can wait for it before it exits. */
export class Activity {
  #running = 0;
  #waiting: (() => void)[] = [];

  /** Runs work that {@link idle} waits for. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  /** Resolves as soon as no work is running. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

type WorkOptions<Tx> = Pick<
  ResolvedReceiverOptions<Tx>,
  'store' | 'onPayment' | 'onPaymentTimeoutMs' | 'onError'
>;

/** What an adapter knows about a request's sender and the runtime. */
export interface Caller {
  /** A signal that aborts when the client disconnects. Called only if the signal is used. */
  getSignal?(): AbortSignal | undefined;
  /** How long `onPayment` may take before the runtime ends the request, in milliseconds. */
  getTimeLimitMs?(): number | undefined;
}

/** A request, as an adapter provides it. */
export interface IncomingCallback extends Caller {
  readonly method: string;
  readonly headers: CallbackHeaders;
  /**
   * Resolves with the body: the bytes of the wire first, then, if a framework has inflated them, what it kept.
   * Called at most once, and only if the body is needed.
   */
  readBody(limits: BodyLimits): Awaitable<readonly RawBody[]>;
}

interface WorkScene {
  readonly callback: VerifiedCallback;
  readonly caller: Caller;
  readonly activity: Activity;
}

/** One change on its way through the store: the call of `onPayment`, its deadline and its result. */
export class PaymentWork<Tx> {
  readonly #options: WorkOptions<Tx>;
  readonly #scene: WorkScene;
  #store: StoreContext<Tx> | undefined;
  #controller: AbortController | undefined;
  readonly #stops: (() => void)[] = [];
  #expire: ((error: StoreError) => void) | undefined;
  #state: 'not begun' | 'running' | 'failed' | 'done' = 'not begun';

  constructor(options: WorkOptions<Tx>, scene: WorkScene) {
    this.#options = options;
    this.#scene = scene;
  }

  /**
   * Has the store do the work. It never rejects. If the work exceeds its time limit, the result is that, but the work
   * continues and the store keeps its claim, since the work may still write.
   */
  async deliver(change: StatusChange): Promise<DeliveryResult> {
    const expired = new Promise<StoreError>((resolve) => {
      this.#expire = resolve;
    });
    const processing = this.#process(change);
    const first = await Promise.race([processing, expired]);
    if (!(first instanceof StoreError)) return first;
    return { ...toFailed(first), late: processing };
  }

  async #process(change: StatusChange): Promise<DeliveryResult> {
    try {
      const result = toDeliveryResult(
        await this.#options.store.process(change, (store) => this.#run(store)),
      );
      if (result.outcome === 'processed' && this.#state !== 'done') {
        const message = "store.process must not resolve with 'processed' unless work did";
        throw new StoreError('CONTRACT_VIOLATION', message);
      }
      return result;
    } catch (error) {
      return toFailed(error);
    }
  }

  async #run(store: StoreContext<Tx>): Promise<void> {
    if (this.#state !== 'not begun') {
      throw new StoreError('CONTRACT_VIOLATION', 'store.process must run work once');
    }
    this.#state = 'running';
    this.#store = store;
    // Counted separately: a store that has lost its lease may answer before the work has ended.
    await this.#scene.activity.during(async () => {
      try {
        const { callback } = this.#scene;
        const context = this.#createContext(store);
        if (context.secondPayment) await report(this.#options.onError, secondPayment(), callback);
        const working: unknown = this.#options.onPayment(callback, context);
        // Work that has returned needs no deadline: no timer could have fired meanwhile.
        if (isPromiseLike(working)) await this.#withinTime(working);
        this.#state = 'done';
      } catch (error) {
        this.#state = 'failed';
        throw error;
      } finally {
        for (const stop of this.#stops) stop();
      }
    });
  }

  /** Has own properties only, so that `{ ...context }` copies all of them. */
  #createContext(store: StoreContext<Tx>): PaymentContext<Tx> {
    const getSignal = () => this.#getSignal();
    return {
      tx: store.tx,
      get signal() {
        return getSignal();
      },
      order:
        (fieldOf(store, 'order') as string | undefined) ??
        this.#scene.callback.payment.merchantPaymentReference,
      get input() {
        return store.input;
      },
      // A merchant's own store may leave these out.
      current: fieldOf(store, 'current') !== false,
      secondPayment: fieldOf(store, 'secondPayment') === true,
    };
  }

  async #withinTime(working: PromiseLike<unknown>): Promise<void> {
    const { onPaymentTimeoutMs } = this.#options;
    const { caller } = this.#scene;
    const ask = fieldOf(caller, 'getTimeLimitMs') as Caller['getTimeLimitMs'];
    const limitMs = ask?.call(caller) ?? Number.POSITIVE_INFINITY;
    const isShorter = limitMs < onPaymentTimeoutMs;
    const afterMs = isShorter ? limitMs : onPaymentTimeoutMs;
    const limit = isShorter ? "the function's own time limit" : 'onPaymentTimeoutMs';
    const timer = setTimeout(() => this.#expireWork(afterMs, limit), afterMs);
    try {
      await working;
    } finally {
      clearTimeout(timer);
    }
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
    const { caller } = this.#scene;
    const ask = fieldOf(caller, 'getSignal') as Caller['getSignal'];
    for (const source of [this.#store?.signal, ask?.call(caller)]) {
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
}

// Without the references, which may identify a customer: onError gets the callback too.
function secondPayment(): StoreError {
  return new StoreError(
    'SECOND_PAYMENT',
    'The order of this callback has a second payment, for the same merchantPaymentReference or by another attempt: look both up at the service, and refund one if both are paid. attention() of the store lists it, and onPayment gets it with secondPayment: true',
  );
}
