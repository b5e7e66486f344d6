import type { Delivery } from './delivery.js';

/** Deliveries that are kept. An older one may still have retries to come; they are made all the same. */
const LIMIT = 10_000;

/** The last deliveries, to look at and to send again. */
export class RecentDeliveries<AnyDelivery extends Delivery> {
  readonly #deliveries = new Map<string, AnyDelivery>();

  add(delivery: AnyDelivery): void {
    this.#deliveries.set(delivery.id, delivery);
    if (this.#deliveries.size <= LIMIT) return;
    const [oldest] = this.#deliveries.keys();
    if (oldest !== undefined) this.#deliveries.delete(oldest);
  }

  get(id: string): AnyDelivery | undefined {
    return this.#deliveries.get(id);
  }

  /** Those of a payment, oldest first. */
  list(referenceNumber: string): AnyDelivery[] {
    return [...this.#deliveries.values()].filter(
      (delivery) => delivery.referenceNumber === referenceNumber,
    );
  }

  clear(): void {
    this.#deliveries.clear();
  }
}
