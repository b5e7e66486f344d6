import type { RawBody } from '../callback/body.js';
import type { Verification } from '../callback/checks.js';
import type { CallbackHeaders } from '../callback/headers.js';
import { RetryLaterError, StoreError } from '../errors.js';
import { causesOf, describeValue } from '../protocol/describe-value.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';
import { type Awaitable, isPromiseLike } from '../protocol/waiting.js';
import type { ChangeOutcome, ChangeResult, StoreContext } from '../store/callback-store.js';
import type { BodyLimits } from './body.js';
import { failurePolicyOf } from './kept-failures.js';
import type { ResolvedReceiverOptions } from './options.js';
import { report } from './report.js';

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

/** A verified callback on its way through the store. */
export interface Delivery extends Verification {
  /** For the store and the log, which the merchant's code can't change. */
  readonly key: string;
  readonly payment: PaymentStatusRecord;
  /** The signing secrets, which must not be kept with an error. Undefined while they are unknown. */
  readonly secrets: readonly unknown[] | undefined;
  /** Whether it is a replay of a change that the store kept. */
  readonly isReplay: boolean;
  readonly caller: Caller;
}

/** What became of a delivery. */
export type Delivered = { readonly outcome: Exclude<ChangeOutcome, 'failed'> } | FailedDelivery;

export interface FailedDelivery extends Omit<ChangeResult, 'outcome'> {
  readonly outcome: 'failed';
  /** What `onPayment` threw to be called again later; an ORM or a store may have wrapped it. */
  readonly retryLater: RetryLaterError | undefined;
  /** What becomes of work that exceeded its time limit and continues. */
  readonly late?: Promise<Delivered>;
}

/** Counts running work, so that a process can wait for it before it exits. */
export class Activity {
  #running = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves as soon as no work is running. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/**
 * Has the store process a change once, by `onPayment`. It never rejects. If the work exceeds its time limit, the result
 * is that, but the work continues and the store keeps its claim, since the work may still write.
 */
export function deliver<Tx>(
  options: ResolvedReceiverOptions<Tx>,
  delivery: Delivery,
  activity: Activity,
): Promise<Delivered> {
  return new Promise((resolve) => {
    const processing = processChange(options, delivery, activity, (error) => {
      resolve({ ...failedBy(error), late: processing });
    });
    processing.then(resolve);
  });
}

/** @param expire called when the work exceeds its time limit */
async function processChange<Tx>(
  options: ResolvedReceiverOptions<Tx>,
  delivery: Delivery,
  activity: Activity,
  expire: (error: StoreError) => void,
): Promise<Delivered> {
  const { callback, key, payment, caller } = delivery;
  let state: 'not begun' | 'running' | 'done' = 'not begun';

  async function work(context: StoreContext<Tx>): Promise<void> {
    if (state !== 'not begun') throw violation('must run work once');
    state = 'running';
    // Counted separately: a store that has lost its lease may answer before the work has ended.
    activity.begin();
    const signal = createSignal(() => [context.signal, caller.getSignal?.()]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      if (context.secondPayment) await report(options.onError, secondPayment(), callback);
      const working: unknown = options.onPayment(
        callback,
        new GivenContext(context, payment, signal),
      );
      // Work that has returned needs no deadline: no timer could have fired meanwhile.
      if (isPromiseLike(working)) {
        const callerMs = caller.getTimeLimitMs?.() ?? Number.POSITIVE_INFINITY;
        const afterMs = Math.min(callerMs, options.onPaymentTimeoutMs);
        timer = setTimeout(() => {
          const error = workTimeout(afterMs, callerMs === afterMs);
          expire(error);
          signal.abort(error);
        }, afterMs);
        await working;
      }
      state = 'done';
    } finally {
      clearTimeout(timer);
      signal.stop();
      activity.end();
    }
  }

  try {
    const failures = failurePolicyOf(options, delivery);
    const result = await options.store.process({ key, payment, failures }, work);
    return toDelivered(result, state);
  } catch (error) {
    return failedBy(error);
  }
}

/** What `onPayment` gets besides the callback. Its signal and input are made when they are first read. */
class GivenContext<Tx> implements StoreContext<Tx> {
  readonly tx: Tx;
  readonly order: string;
  readonly current: boolean;
  readonly secondPayment: boolean;
  readonly #context: StoreContext<Tx>;
  readonly #signal: WorkSignal;

  constructor(context: StoreContext<Tx>, payment: PaymentStatusRecord, signal: WorkSignal) {
    this.tx = context.tx;
    // A merchant's own store may leave some out.
    this.order = context.order ?? payment.merchantPaymentReference;
    this.current = context.current ?? true;
    this.secondPayment = context.secondPayment ?? false;
    this.#context = context;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal.get();
  }

  get input(): CreatePaymentInput | undefined {
    return this.#context.input;
  }
}

type WorkSignal = ReturnType<typeof createSignal>;

/** A signal that is made when it is first read: it costs as much as all else here, and few handlers read it. */
function createSignal(getSources: () => readonly (AbortSignal | undefined)[]) {
  let controller: AbortController | undefined;
  let stops: readonly (() => void)[] = [];
  // Not AbortSignal.any: on Node 20 listeners of such a signal are never freed.
  const make = (): AbortController => {
    if (controller !== undefined) return controller;
    const made = new AbortController();
    controller = made;
    stops = getSources().map((source) => {
      const abort = (): void => made.abort(source?.reason);
      if (source?.aborted) abort();
      source?.addEventListener('abort', abort);
      return () => source?.removeEventListener('abort', abort);
    });
    return made;
  };
  return {
    get: () => make().signal,
    abort: (reason: unknown) => make().abort(reason),
    /** Stops listening to the sources. */
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

const failedBy = (error: unknown): FailedDelivery => ({
  outcome: 'failed',
  error,
  retryLater: [...causesOf(error)].find((cause) => cause instanceof RetryLaterError),
});

/** Only a known outcome counts, since a merchant's own store may return anything. */
function toDelivered(result: ChangeResult, state: string): Delivered {
  const { outcome, error, parkedAfter, notKept } = result ?? {};
  switch (outcome) {
    case 'failed':
      return { ...failedBy(error), parkedAfter, notKept };
    case 'processed':
      if (state === 'done') return { outcome };
      throw violation("must not resolve with 'processed' unless work did");
    case 'duplicate':
    case 'busy':
    case 'parked':
      return { outcome };
    default:
      throw violation(
        `must resolve with an object whose outcome is 'processed', 'duplicate', 'busy', 'parked' or 'failed'; received ${describeValue(outcome ?? result)}`,
      );
  }
}

const violation = (rule: string): StoreError =>
  new StoreError('STORE_FAILED', `store.process ${rule}`);

function workTimeout(afterMs: number, isOfCaller: boolean): StoreError {
  const limit = isOfCaller ? "the function's own time limit" : 'onPaymentTimeoutMs';
  return new StoreError(
    'WORK_TIMEOUT',
    `onPayment did not return within ${afterMs} ms (${limit}), and its order stays busy until then. Set deadlines on what it awaits, or use a queue`,
  );
}

// Without the references, which may identify a customer: onError gets the callback too.
const secondPayment = (): StoreError =>
  new StoreError(
    'SECOND_PAYMENT',
    'The order of this callback has a second payment, which attention() lists: look both up at the service, and refund one if both are paid',
  );
