import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { Callback } from './shop.js';
import { StrictShop } from './strict-shop.js';
import type { WrongHandler } from './wrong-handler.js';

/** Endpoints that take a callback before its order is there. */
export const hasty: readonly WrongHandler[] = [
  {
    flaw: 'acknowledges a callback whose UPDATE met no row',
    fails: ['overtaking'],
    create: () =>
      new (class extends StrictShop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const status = await super.process(payment, callback);
          return status === 503 ? 200 : status;
        }
      })(),
  },
  {
    flaw: 'redirects a callback of an order that it does not know',
    fails: ['overtaking'],
    create: () =>
      new (class extends StrictShop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const status = await super.process(payment, callback);
          return status === 503 && !this.isStored(payment) ? 302 : status;
        }
      })(),
  },
];
