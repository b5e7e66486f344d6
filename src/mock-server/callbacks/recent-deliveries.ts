import type { LiveDelivery } from './waiting-deliveries.js';

/** Older deliveries are still retried. */
const LIMIT = 10_000;

/** The deliveries that are kept, by id. */
export class RecentDeliveries {
  /** Oldest first. */
  readonly #deliveries = new Map<string, LiveDelivery>();

  /** Returns the delivery that makes room. */
  add(delivery: LiveDelivery): LiveDelivery | undefined {
    this.#deliveries.set(delivery.id, delivery);
    if (this.#deliveries.size <= LIMIT) return undefined;
    const [oldest] = this.#deliveries.values();
    if (oldest !== undefined) this.#deliveries.delete(oldest.id);
    return oldest;
  }

  get(id: string): LiveDelivery | undefined {
    return this.#deliveries.get(id);
  }

  has(id: string): boolean {
    return this.#deliveries.has(id);
  }

  /** Oldest first. */
  list(): LiveDelivery[] {
    return [...this.#deliveries.values()];
  }

  clear(): void {
    this.#deliveries.clear();
  }
}
