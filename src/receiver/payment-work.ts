import type { VerifiedCallback } from '../callback/options.js';
import { InboxError } from '../errors.js';
import type { InboxContext, InboxOutcome } from '../inbox/inbox.js';
import type { PaymentContext, ResolvedReceiverOptions } from './options.js';

type WorkOptions<Tx> = Pick<ResolvedReceiverOptions<Tx>, 'onPayment' | 'onPaymentTimeoutMs'>;

/** One call of `onPayment`: its context, its deadline, and whether it was done. */
export class PaymentWork<Tx> implements PaymentContext<Tx> {
  declare tx: Tx;
  readonly #options: WorkOptions<Tx>;
  readonly #callback: VerifiedCallback;
  readonly #getClientSignal: () => AbortSignal | undefined;
  #inbox: InboxContext<Tx> | undefined;
  #controller: AbortController | undefined;
  readonly #stops: (() => void)[] = [];
  #expire: ((error: InboxError) => void) | undefined;
  #state: 'not begun' | 'running' | 'failed' | 'done' = 'not begun';

  constructor(
    options: WorkOptions<Tx>,
    callback: VerifiedCallback,
    getClientSignal: () => AbortSignal | undefined,
  ) {
    this.#options = options;
    this.#callback = callback;
    this.#getClientSignal = getClientSignal;
  }

  /** Made when it is asked for: it costs as much as the rest, and most handlers never look. */
  get signal(): AbortSignal {
    this.#controller ??= this.#createController();
    return this.#controller.signal;
  }

  /** What the inbox is to run. */
  async run(context: InboxContext<Tx>): Promise<void> {
    if (this.#state !== 'not begun') throw new TypeError('inbox.process must run work once');
    this.#state = 'running';
    this.#inbox = context;
    this.tx = context.tx;
    const { onPayment, onPaymentTimeoutMs } = this.#options;
    const timer = setTimeout(() => this.#giveUp(), onPaymentTimeoutMs);
    try {
      await onPayment(this.#callback, this);
      this.#state = 'done';
    } catch (error) {
      this.#state = 'failed';
      throw error;
    } finally {
      clearTimeout(timer);
      this.#stopListening();
    }
  }

  /**
   * What the inbox answers, unless the work takes too long: then it goes on, and the inbox keeps its
   * claim, since the work may still write.
   *
   * @throws {InboxError} `WORK_TIMEOUT`
   */
  inTime(processing: Promise<InboxOutcome>): Promise<InboxOutcome> {
    return new Promise((resolve, reject) => {
      this.#expire = reject;
      // An inbox of the merchant's own may answer without a promise.
      Promise.resolve(processing).then((outcome) => {
        if (outcome === 'processed' && (this.#state === 'running' || this.#state === 'failed')) {
          reject(new TypeError("inbox.process must not resolve with 'processed' unless work did"));
        } else {
          resolve(outcome);
        }
      }, reject);
    });
  }

  #giveUp(): void {
    const error = new InboxError(
      'WORK_TIMEOUT',
      `onPayment has not returned within ${this.#options.onPaymentTimeoutMs} ms (onPaymentTimeoutMs), so the service was told to come again. The payment stays busy until onPayment returns: give everything it waits for a deadline, stop when the signal aborts, and leave slow work to a queue`,
    );
    this.#expire?.(error);
    void this.signal;
    this.#controller?.abort(error);
  }

  #createController(): AbortController {
    const controller = new AbortController();
    for (const source of [this.#inbox?.signal, this.#getClientSignal()]) {
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
