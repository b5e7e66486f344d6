import type { Delivery, DeliveryAttempt } from './delivery.js';

/** Deliveries that are kept. An older one may still have retries to come; they are made all the same. */
const LIMIT = 10_000;

interface KeptDelivery extends Delivery {
  readonly attempts: DeliveryAttempt[];
}

/** The last deliveries with their attempts, to look at and to send again. */
export class RecentDeliveries<AnyDelivery extends KeptDelivery> {
  readonly #deliveries = new Map<string, AnyDelivery>();

  add(delivery: AnyDelivery): void {
    this.#deliveries.set(delivery.id, delivery);
    if (this.#deliveries.size <= LIMIT) return;
    const [oldest] = this.#deliveries.values();
    if (oldest === undefined) return;
    this.#deliveries.delete(oldest.id);
    // A hundred thousand that wait for an endpoint that is down would each keep theirs.
    oldest.attempts.length = 0;
  }

  addAttempt(delivery: AnyDelivery, attempt: DeliveryAttempt): void {
    if (this.#deliveries.has(delivery.id)) delivery.attempts.push(attempt);
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
