import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import { type Callback, later, Shop } from './shop.js';
import type { WrongHandler } from './wrong-handler.js';

export const repeated: readonly WrongHandler[] = [
  {
    flaw: 'acts on every delivery',
    fails: ['duplicate-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord) {
          await this.query();
          this.act(payment);
          return 200;
        }
      })(),
  },
  {
    flaw: 'acts on duplicates a moment after the answer',
    fails: ['duplicate-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const isKnown = this.processed.has(this.changeOf(payment, callback));
          if (isKnown) void later(20).then(() => this.act(payment));
          return super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'acts on duplicates some time after the answer',
    fails: ['duplicate-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const isKnown = this.processed.has(this.changeOf(payment, callback));
          if (isKnown) void later(500).then(() => this.act(payment));
          return super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'puts every delivery into a queue that takes 100 ms for each',
    fails: ['duplicate-effect'],
    create: () =>
      new (class extends Shop {
        #queue: Promise<void> = Promise.resolve();
        protected override async process(payment: PaymentStatusRecord) {
          this.#queue = this.#queue.then(async () => {
            await later(100);
            this.act(payment);
          });
          return 200;
        }
      })(),
  },
  {
    flaw: 'knows duplicates by their signature',
    fails: ['resigned-retry-effect'],
    create: () =>
      new (class extends Shop {
        protected override changeOf(_: PaymentStatusRecord, { headers }: Callback): string {
          return String(headers['x-signature']);
        }
      })(),
  },
  {
    flaw: 'knows duplicates by their payment',
    fails: ['second-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override changeOf({ referenceNumber }: PaymentStatusRecord): string {
          return referenceNumber;
        }
      })(),
  },
  {
    flaw: 'knows duplicates by their payment and its updatedAt',
    fails: ['second-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override changeOf({ referenceNumber, updatedAt }: PaymentStatusRecord): string {
          return `${referenceNumber} ${updatedAt}`;
        }
      })(),
  },
  {
    flaw: 'knows duplicates by their payment, and acts a moment after the answer',
    fails: ['second-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override changeOf({ referenceNumber }: PaymentStatusRecord): string {
          return referenceNumber;
        }
        protected override perform(payment: PaymentStatusRecord, isOlder: boolean): void {
          void later(250).then(() => super.perform(payment, isOlder));
        }
      })(),
  },
  {
    flaw: 'looks first and records afterwards',
    fails: ['simultaneous-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const change = this.changeOf(payment, callback);
          if (this.processed.has(change)) return 200;
          // As long as a database takes: the other delivery is here by then.
          await sleep(20);
          this.act(payment);
          this.processed.add(change);
          return 200;
        }
      })(),
  },
  {
    flaw: 'answers 400 to a duplicate',
    fails: ['duplicate'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const { referenceNumber } = payment;
          const isKnown = this.processed.has(this.changeOf(payment, callback));
          if (isKnown || this.running.has(referenceNumber)) return 400;
          return super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'answers 400 to a change that it is working on',
    fails: ['simultaneous'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const status = await super.process(payment, callback);
          return status === 503 ? 400 : status;
        }
      })(),
  },
  {
    flaw: 'acts twice on each change',
    fails: ['valid-effect'],
    create: () =>
      new (class extends Shop {
        protected override act(payment: PaymentStatusRecord): void {
          super.act(payment);
          super.act(payment);
        }
      })(),
  },
  {
    flaw: 'never frees what was asked for twice at once',
    fails: ['simultaneous'],
    create: () =>
      new (class extends Shop {
        readonly #locked = new Set<string>();
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          const { referenceNumber } = payment;
          if (this.running.has(referenceNumber)) this.#locked.add(referenceNumber);
          return this.#locked.has(referenceNumber) ? 503 : super.process(payment, callback);
        }
      })(),
  },
  {
    flaw: 'answers 409 to every callback of a payment but the first',
    fails: ['duplicate', 'older-change', 'second-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          if (this.newest.has(payment.referenceNumber)) return this.#isFirst(callback) ? 200 : 409;
          return super.process(payment, callback);
        }
        // Copies of the very first are let through, or none of them would ever be acknowledged.
        readonly #seen = new Map<string, number>();
        #isFirst({ headers }: Callback): boolean {
          const times = (this.#seen.get(String(headers['x-signature'])) ?? 0) + 1;
          this.#seen.set(String(headers['x-signature']), times);
          return times > 1;
        }
      })(),
  },
];

export const ordered: readonly WrongHandler[] = [
  {
    flaw: 'lets the last write win',
    fails: ['older-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override isOlder(): boolean {
          return false;
        }
      })(),
  },
  {
    flaw: 'compares times as text',
    fails: ['older-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override isOlder({ referenceNumber, updatedAt }: PaymentStatusRecord): boolean {
          return updatedAt < (this.newest.get(referenceNumber) ?? '');
        }
      })(),
  },
  {
    flaw: 'ships on paid alone, but lets the last status win',
    fails: ['older-change-effect'],
    create: () =>
      new (class extends Shop {
        protected override isOlder(): boolean {
          return false;
        }
        protected override act(payment: PaymentStatusRecord): void {
          if (payment.status === 'paid') super.act(payment);
          else this.orders.setStatus(payment);
        }
      })(),
  },
  {
    flaw: 'drops what is older',
    fails: ['late-paid-effect'],
    create: () =>
      new (class extends Shop {
        protected override act(payment: PaymentStatusRecord): void {
          if (!this.isOlder(payment)) super.act(payment);
        }
      })(),
  },
  {
    flaw: 'ships what is paid, unless a newer change is known',
    fails: ['late-paid-effect'],
    create: () =>
      new (class extends Shop {
        protected override perform(payment: PaymentStatusRecord, isOlder: boolean): void {
          if (payment.status === 'paid') super.perform(payment, isOlder);
          else this.orders.setStatus(payment);
        }
        protected override act(payment: PaymentStatusRecord): void {
          if (!this.isOlder(payment)) super.act(payment);
        }
      })(),
  },
  {
    flaw: 'refuses an older change',
    fails: ['older-change'],
    create: () =>
      new (class extends Shop {
        protected override async process(payment: PaymentStatusRecord, callback: Callback) {
          return this.isOlder(payment) ? 422 : super.process(payment, callback);
        }
      })(),
  },
];
