import type { MockClock, MockTimer } from './state/clock.js';
import type { MockPayment } from './state/payments.js';

/** The end of a reference that asks for an automatic status, as in `order-1001-auto-paid`. */
const MAGIC_REFERENCE = /-auto-(\w+)$/;

interface AutomaticStatusesOptions {
  readonly clock: MockClock;
  /** For payments whose reference asks for none. */
  readonly status: string | undefined;
  readonly afterMs: number;
  readonly setStatus: (payment: MockPayment, status: string) => unknown;
}

/** Sets a payment's status some time after its creation, as if the customer had paid. */
export class AutomaticStatuses {
  readonly #options: AutomaticStatusesOptions;
  /** By referenceNumber. */
  readonly #timers = new Map<string, MockTimer>();

  constructor(options: AutomaticStatusesOptions) {
    this.#options = options;
  }

  schedule(payment: MockPayment): void {
    const { clock, afterMs, setStatus } = this.#options;
    const { merchantPaymentReference, referenceNumber } = payment;
    const status = MAGIC_REFERENCE.exec(merchantPaymentReference)?.[1] ?? this.#options.status;
    if (status === undefined) return;
    // Returned, so that a manual clock waits for the callback.
    const timer = clock.setTimeout(() => setStatus(payment, status), afterMs);
    this.#timers.set(referenceNumber, timer);
  }

  /** A payment whose status has changed gets no automatic one. */
  cancel({ referenceNumber }: MockPayment): void {
    this.#timers.get(referenceNumber)?.cancel();
    this.#timers.delete(referenceNumber);
  }

  cancelAll(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }
}
