import type { MockServer } from '../../src/mock-server/server.js';
import type { MockPayment } from '../../src/mock-server/state/payments.js';
import { DECLINED, toOrder } from './shop-config.js';
import { changeStatuses, type Traffic } from './traffic.js';

/** What becomes of payments. `paid` may come late in the second; the third is declined. */
const LIVES = [
  ['authorized', 'captured', 'paid'],
  ['authorized', 'paid', 'settled'],
  ['authorized', DECLINED],
] as const;
const AT_ONCE = 20;

/** A payment at the service. */
interface Living {
  readonly referenceNumber: string;
  readonly isDeclined: boolean;
  /** What became of it, once that is over. */
  traffic: Promise<Traffic>;
}

/** What the service does with its payments by itself. */
export class ServiceLife {
  readonly #mock: MockServer;
  readonly #random: () => number;
  readonly #lives = new Map<string, Living>();

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
      for (const payment of waiting) await this.#live(payment).traffic;
    };
    await Promise.all(Array.from({ length: AT_ONCE }, takeOneAfterAnother));
  }

  /** Until the callbacks of a payment are over. Resolves with whether it is declined. */
  async untilOver(reference: string): Promise<boolean> {
    const living = this.#lives.get(reference);
    await living?.traffic;
    return living?.isDeclined ?? false;
  }

  /** Pays a declined payment after all. */
  payLate(reference: string): void {
    const living = this.#lives.get(reference);
    if (living === undefined) throw new Error(`There is no payment ${reference}`);
    living.traffic = Promise.all([
      living.traffic,
      this.#change(reference, living.referenceNumber, ['paid']),
    ]).then(joined);
  }

  /** What it did, once all of it is over. Changes are by the merchant's reference. */
  async end(): Promise<Traffic> {
    return joined(await Promise.all([...this.#lives.values()].map(({ traffic }) => traffic)));
  }

  #live({ referenceNumber, merchantPaymentReference: reference }: MockPayment): Living {
    const known = this.#lives.get(reference);
    if (known !== undefined) return known;
    const statuses = LIVES[Math.floor(this.#random() * LIVES.length)] ?? [];
    const living = {
      referenceNumber,
      isDeclined: statuses.at(-1) === DECLINED,
      traffic: this.#change(reference, referenceNumber, statuses),
    };
    this.#lives.set(reference, living);
    return living;
  }

  async #change(
    reference: string,
    referenceNumber: string,
    statuses: readonly string[],
  ): Promise<Traffic> {
    const { changes, deliveries } = await changeStatuses({
      mock: this.#mock,
      random: this.#random,
      reference: referenceNumber,
      statuses,
      keepsFaults: true,
    });
    const order = toOrder(reference);
    return { changes: changes.map((change) => ({ ...change, reference, order })), deliveries };
  }
}

function joined(parts: readonly Traffic[]): Traffic {
  return {
    changes: parts.flatMap(({ changes }) => changes),
    deliveries: parts.flatMap(({ deliveries }) => deliveries),
  };
}
