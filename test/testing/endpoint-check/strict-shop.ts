import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import { type Callback, Shop } from './shop.js';

/** Takes payments of orders that are stored, and ships once what is paid. */
export class StrictShop extends Shop {
  readonly #stored = new Set<string>();
  #made = 0;

  readonly options: Partial<CheckCallbackEndpointOptions> = {
    merchantPaymentReference: async () => {
      this.#made += 1;
      this.#stored.add(`order-${this.#made}`);
      return `order-${this.#made}`;
    },
    overtaking: true,
  };

  protected isStored({ merchantPaymentReference }: PaymentStatusRecord): boolean {
    return this.#stored.has(merchantPaymentReference);
  }

  protected override async process(
    payment: PaymentStatusRecord,
    callback: Callback,
  ): Promise<number> {
    return this.isStored(payment) ? super.process(payment, callback) : 503;
  }

  protected override perform(payment: PaymentStatusRecord, isOlder: boolean): void {
    if (payment.status === 'paid') this.orders.count(payment);
    if (!isOlder) this.orders.setStatus(payment);
  }
}
