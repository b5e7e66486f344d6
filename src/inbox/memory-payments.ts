interface RememberedPayment {
  readonly reference: string;
  /** Most payments have one change, for which a set would be several times as large. */
  keys: string | Set<string>;
  /** When the latest processed change happened, in epoch microseconds. */
  watermark: number;
  /** In epoch milliseconds. */
  changedAtMs: number;
  /** Its neighbours in the order of the last change. */
  older: RememberedPayment | undefined;
  newer: RememberedPayment | undefined;
}

/** A change that was processed. */
export interface ProcessedChange {
  readonly paymentReference: string;
  readonly key: string;
  /** In epoch microseconds. */
  readonly occurredAtUs: number;
}

/** The changes that were processed, in memory, by payment. The payment longest without a change goes first. */
export class MemoryPayments {
  readonly #maxEntries: number;
  readonly #payments = new Map<string, RememberedPayment>();
  // A list beside the map: a map finds its first entry by walking over all that were deleted before it.
  #oldest: RememberedPayment | undefined;
  #newest: RememberedPayment | undefined;
  #entries = 0;

  constructor({ maxEntries }: { maxEntries: number }) {
    this.#maxEntries = maxEntries;
  }

  has(reference: string, key: string): boolean {
    const keys = this.#payments.get(reference)?.keys;
    return typeof keys === 'object' ? keys.has(key) : keys === key;
  }

  /** Whether a later change of the payment was processed. */
  isOlder(reference: string, occurredAtUs: number): boolean {
    const payment = this.#payments.get(reference);
    return payment !== undefined && occurredAtUs < payment.watermark;
  }

  remember({ paymentReference, key, occurredAtUs }: ProcessedChange, nowMs: number): void {
    const known = this.#payments.get(paymentReference);
    const payment = known ?? {
      reference: paymentReference,
      keys: key,
      watermark: occurredAtUs,
      changedAtMs: nowMs,
      older: undefined,
      newer: undefined,
    };
    if (known === undefined) {
      this.#payments.set(paymentReference, payment);
    } else {
      if (typeof known.keys === 'string') known.keys = new Set([known.keys]);
      known.keys.add(key);
      known.watermark = Math.max(known.watermark, occurredAtUs);
      known.changedAtMs = nowMs;
      this.#unlink(known);
    }
    this.#entries += 1;
    this.#append(payment);
  }

  /** Forgets the payments without a change since `oldestMs`, and what exceeds `maxEntries`. */
  forget(oldestMs: number): void {
    for (let oldest = this.#oldest; oldest !== undefined; oldest = this.#oldest) {
      const { reference, keys, changedAtMs } = oldest;
      const isExpired = changedAtMs <= oldestMs;
      if (this.#entries <= this.#maxEntries && !isExpired) return;
      if (typeof keys === 'string' || isExpired || oldest !== this.#newest) {
        this.#payments.delete(reference);
        this.#unlink(oldest);
        this.#entries -= typeof keys === 'string' ? 1 : keys.size;
      } else {
        // The payment that is left has more changes than fit; its watermark still knows them as stale.
        const [first] = keys;
        this.#entries -= Number(keys.delete(first as string));
      }
    }
  }

  #append(payment: RememberedPayment): void {
    payment.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = payment;
    else this.#newest.newer = payment;
    this.#newest = payment;
  }

  #unlink(payment: RememberedPayment): void {
    const { older, newer } = payment;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    payment.older = undefined;
    payment.newer = undefined;
  }
}
