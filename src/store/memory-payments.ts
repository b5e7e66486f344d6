import type { RememberedChange } from './memory-failures.js';

interface RememberedPayment {
  readonly reference: string;
  /** A string while there is one change, as for most payments: a set takes several times the memory. */
  keys: string | Set<string>;
  /** When the latest processed change happened, in epoch microseconds. */
  watermark: number;
  /** In epoch milliseconds. */
  changedAtMs: number;
  /** Its neighbours in the list, which is ordered by the last change. */
  older: RememberedPayment | undefined;
  newer: RememberedPayment | undefined;
}

/** The processed changes, by payment. The payment with the oldest last change is evicted first. */
export class MemoryPayments {
  readonly #maxEntries: number;
  readonly #payments = new Map<string, RememberedPayment>();
  // A linked list beside the map: to find its first entry, a map walks over all entries deleted before it.
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

  remember({ paymentReference, key, occurredAtUs }: RememberedChange, nowMs: number): void {
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

  /** Evicts the payments without a change since `oldestMs`, and the oldest ones beyond `maxEntries`. */
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
        // The only payment left has more changes than fit; its watermark still makes the evicted ones stale.
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
