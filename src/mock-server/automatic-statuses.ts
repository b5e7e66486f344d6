import type { MockClock, MockTimer } from './state/clock.js';
import type { MockPayment } from './state/payments.js';

/** The end of a reference that asks for an automatic status, as in `order-1001-auto-paid`. */
const MAGIC_REFERENCE = /-auto-(\w+)$/;

interface AutomaticStatusesOptions {
  readonly clock: MockClock;
  /** For payments whose reference asks for none. */
  readonly status: string | undefined;
  readonly afterMs: number;
  readonly setStatus: (referenceNumber: string, status: string) => unknown;
}

/** Sets a payment's status some time after its creation, as if the customer had paid. */
export class AutomaticStatuses {
  readonly #options: AutomaticStatusesOptions;
  readonly #timers = new Set<MockTimer>();

  constructor(options: AutomaticStatusesOptions) {
    this.#options = options;
  }

  schedule({ merchantPaymentReference, referenceNumber }: MockPayment): void {
    const { clock, afterMs, setStatus } = this.#options;
    const status = MAGIC_REFERENCE.exec(merchantPaymentReference)?.[1] ?? this.#options.status;
    if (status === undefined) return;
    const timer = clock.setTimeout(() => {
      this.#timers.delete(timer);
      // Returned, so that a manual clock waits for the callback.
      return setStatus(referenceNumber, status);
    }, afterMs);
    this.#timers.add(timer);
  }

  cancel(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
