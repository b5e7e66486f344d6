import type { OutboxContext, SettleOutcome } from '../../../../src/outbox/outbox.js';
import type { Finding, Result, StoredPayment } from '../../../../src/outbox/store.js';
import type { PaymentStatusRecord } from '../../../../src/protocol/payment.js';
import { RightOutbox, RightStore, type WrongOutbox } from './wrong-outbox.js';

const NEWEST = 'keeps the newest record of a known payment';
const NOT_OURS = 'answers not-ours to a callback for a payment that it does not know';
const SECOND = 'detects a second payment with one reference, lists it once, and keeps the first';

/** A store that answers without settling where the payment is as said. */
function answering(
  outcome: SettleOutcome,
  where: (stored: StoredPayment, finding: Finding) => boolean,
): typeof RightStore {
  return class extends RightStore {
    override async settle(key: string, finding: Finding) {
      const stored = await this.read(key);
      return stored && where(stored, finding) ? outcome : super.settle(key, finding);
    }
  };
}

const isSecond = (stored: StoredPayment, finding: Finding): boolean =>
  stored.state === 'created' && stored.referenceNumber !== finding.referenceNumber;

/** A store that says of a sender which lost the payment that all is well. */
export class ForgivingStore extends RightStore {
  override async finish(key: string, owner: string, result: Result) {
    return (await super.finish(key, owner, result)) ?? this.read(key);
  }
}

/** A store that takes each record for newer than those before. */
class LastWordStore extends RightStore {
  #count = 0;
  override settle(key: string, finding: Finding) {
    this.#count += 1;
    const updatedAtUs = Number.MAX_SAFE_INTEGER - 1_000 + this.#count;
    return super.settle(key, { ...finding, updatedAtUs });
  }
}

export const wrongSettling: readonly WrongOutbox[] = [
  {
    flaw: 'takes every payment for its own',
    caughtBy: NOT_OURS,
    says: /'known' !== 'not-ours'|known/,
    store: class extends RightStore {
      override async settle(key: string, finding: Finding): Promise<SettleOutcome> {
        const outcome = await super.settle(key, finding);
        return outcome === 'not-ours' ? 'known' : outcome;
      }
    },
  },
  {
    flaw: 'refuses the callback of a payment whose reference is blank',
    caughtBy: NOT_OURS,
    says: /is blank/,
    outbox: class extends RightOutbox {
      override async settle(payment: PaymentStatusRecord, context: OutboxContext<unknown>) {
        if (payment.merchantPaymentReference.trim() === '') throw new Error('it is blank');
        return super.settle(payment, context);
      }
    },
  },
  {
    flaw: 'says that it settled, and does nothing',
    caughtBy: 'settles an unresolved payment by its callback',
    says: /state must be created; received unresolved/,
    store: answering('settled', ({ state }) => state === 'unresolved'),
  },
  {
    flaw: 'lists what was settled',
    caughtBy: 'settles an unresolved payment by its callback',
    says: /it is still listed/,
    store: class extends RightStore {
      override async listUnresolved() {
        return this.#settled;
      }
      override async settle(key: string, finding: Finding) {
        const outcome = await super.settle(key, finding);
        const stored = await this.read(key);
        if (stored !== undefined) this.#settled.push({ key, stored });
        return outcome;
      }
      readonly #settled: { key: string; stored: StoredPayment }[] = [];
    },
  },
  {
    flaw: 'takes no notice of a callback while the payment is being sent',
    caughtBy: 'returns the record of a callback that arrived before the answer',
    says: /status/,
    store: answering('settled', ({ state }) => state === 'sending'),
  },
  {
    flaw: 'keeps the last record that came',
    caughtBy: NEWEST,
    says: /an older record replaced a newer one/,
    store: LastWordStore,
  },
  {
    flaw: 'keeps the first record',
    caughtBy: NEWEST,
    says: /a callback is newer/,
    store: answering('known', (stored, finding) => !isSecond(stored, finding)),
  },
  {
    flaw: 'does not learn the number of a payment that was lost',
    caughtBy: 'settles a created payment whose referenceNumber was lost',
    says: /known/,
    store: answering('known', ({ state }) => state === 'created'),
  },
  {
    flaw: 'takes a second payment for the first',
    caughtBy: SECOND,
    says: /second-payment/,
    store: answering('known', isSecond),
  },
  {
    flaw: 'does not list a second payment',
    caughtBy: SECOND,
    says: /undefined/,
    store: answering('second-payment', isSecond),
  },
  {
    flaw: 'lists a second payment for each of its callbacks',
    caughtBy: SECOND,
    says: /it is listed more than once/,
    store: class extends RightStore {
      override async listSecondPayments() {
        const [one] = await super.listSecondPayments({ after: undefined, limit: 1 });
        return one === undefined ? [] : [one, one];
      }
    },
  },
  {
    flaw: 'keeps the last record of a second payment that came',
    caughtBy: SECOND,
    says: /the newest record must be kept/,
    store: LastWordStore,
  },
  {
    flaw: 'drops the answer to a sender that was overtaken',
    caughtBy: 'lists the payment of an answer as second if the callback named another one',
    says: /the payment of the answer is not listed/,
    store: ForgivingStore,
  },
  {
    flaw: 'settles outside of the transaction',
    caughtBy: 'settles in the given transaction',
    says: /state must be unresolved; received created/,
  },
];
