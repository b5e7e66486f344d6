import type { MockServer } from '../../src/mock-server/server.js';
import type { MockPayment } from '../../src/mock-server/state/payments.js';
import { changeStatuses, type Traffic } from './traffic.js';

/** What becomes of payments. `paid` may come late in the second; the third is never paid. */
const LIVES = [
  ['authorized', 'captured', 'paid'],
  ['authorized', 'paid', 'settled'],
  ['authorized', 'failed'],
] as const;
const AT_ONCE = 20;

/** What the service does with its payments by itself. */
export class ServiceLife {
  readonly #mock: MockServer;
  readonly #random: () => number;
  readonly #traffic = new Map<string, Promise<Traffic>>();

  constructor(mock: MockServer, random: () => number) {
    this.#mock = mock;
    this.#random = random;
  }

  /** Changes each payment from the moment at which it is created: before the shop has the answer. */
  begin(): void {
    this.#mock.subscribe((event) => {
      if (event.type === 'payment' && event.payment.history.length === 1) this.#live(event.payment);
    });
  }

  /** Changes all payments that were not changed before. */
  async catchUp(): Promise<void> {
    const waiting = this.#mock.payments.list().values();
    const takeOneAfterAnother = async (): Promise<void> => {
      for (const payment of waiting) await this.#live(payment);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, takeOneAfterAnother));
  }

  /** Until the callbacks of an order's payment are over. */
  async untilOver(reference: string): Promise<void> {
    await this.#traffic.get(reference);
  }

  /** What it did, once all of it is over. Changes are by the merchant's reference. */
  async end(): Promise<Traffic> {
    const traffic = await Promise.all(this.#traffic.values());
    return {
      changes: traffic.flatMap(({ changes }) => changes),
      deliveries: traffic.flatMap(({ deliveries }) => deliveries),
    };
  }

  #live({ referenceNumber, merchantPaymentReference: reference }: MockPayment): Promise<Traffic> {
    const known = this.#traffic.get(reference);
    if (known !== undefined) return known;
    const statuses = LIVES[Math.floor(this.#random() * LIVES.length)] ?? [];
    const changing = changeStatuses({
      mock: this.#mock,
      random: this.#random,
      reference: referenceNumber,
      statuses,
      keepsFaults: true,
    }).then(({ changes, deliveries }) => ({
      changes: changes.map((change) => ({ ...change, reference })),
      deliveries,
    }));
    this.#traffic.set(reference, changing);
    return changing;
  }
}
