import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import { type Callback, Shop } from './shop.js';

/** Takes payments of orders that are stored. */
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
}
