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
  {
    flaw: 'refuses for ever what it has refused once',
    fails: ['overtaking-redelivery'],
    create: () =>
      new (class extends StrictShop {
        readonly #refused = new Set<string>();
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          if (!this.isStored(payment)) this.#refused.add(payment.referenceNumber);
          if (this.#refused.has(payment.referenceNumber)) return 503;
          return super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'remembers a change as processed before it looks for the order',
    fails: ['overtaking-effect'],
    create: () =>
      new (class extends StrictShop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const status = await super.process(payment, callback);
          if (!this.isStored(payment)) this.processed.add(this.changeOf(payment, callback));
          return status;
        }
      })(),
  },
  {
    flaw: 'ships before it looks for the order',
    fails: ['overtaking-effect'],
    create: () =>
      new (class extends StrictShop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          if (!this.isStored(payment)) this.orders.count(payment);
          return super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'ships before it looks for the order, with a run that stores none',
    fails: ['overtaking-effect'],
    create: () => {
      const shop = new (class extends StrictShop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          if (!this.isStored(payment)) this.orders.count(payment);
          return super.process(payment, callback);
        }
      })();
      const { listener, orders, options } = shop;
      return { listener, orders, options: { ...options, overtaking: true } };
    },
  },
];
