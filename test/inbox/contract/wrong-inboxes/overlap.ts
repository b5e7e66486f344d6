import type { InboxEvent, InboxOutcome } from '../../../../src/inbox/inbox.js';
import { type Change, type Claim, RightInbox } from '../right-inbox.js';
import { LEASE_MS, type WrongInbox } from './wrong-inbox.js';

export const wrongOverlap: readonly WrongInbox[] = [
  {
    flaw: 'claims a change, not its payment',
    caughtBy: 'never processes two changes of one payment at the same time',
    says: /ran at the same time as other work for the same payment/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        const change = super.read(event);
        return { ...change, payment: change.id };
      }
    },
  },
  ...[
    {
      caughtBy: 'never processes two changes of one payment at the same time',
      says: /ran at the same time as other work for the same payment/,
    },
    {
      caughtBy: 'answers busy to a delivery that has waited for waitMs',
      says: /must answer 'busy', but answered 'processed'/,
    },
  ].map((caught) => ({
    ...caught,
    flaw: 'claims a payment at a time, not the payment',
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        const change = super.read(event);
        return { ...change, payment: `${change.payment} at ${change.at}` };
      }
    },
  })),
  {
    flaw: 'gives a claim up that is asked for a third time',
    caughtBy: 'keeps an event while its work takes three leases',
    says: /ran at the same time as other work for the same payment/,
    inbox: class extends RightInbox {
      readonly #asked = new WeakMap<Claim, number>();
      protected override holder(change: Change): Claim | undefined {
        const claim = super.holder(change);
        if (claim === undefined) return undefined;
        const asked = (this.#asked.get(claim) ?? 0) + 1;
        this.#asked.set(claim, asked);
        return asked < 3 ? claim : undefined;
      }
    },
  },
  {
    flaw: 'never renews its lease',
    caughtBy: 'keeps an event while its work takes three leases',
    says: /ran at the same time as other work for the same payment/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        const claim = super.claim(change);
        setTimeout(() => this.release(change, claim), LEASE_MS).unref();
        return claim;
      }
    },
  },
  {
    flaw: 'answers duplicate to what has waited long enough',
    caughtBy: 'answers busy to a delivery that has waited for waitMs',
    says: /must answer 'busy', but answered 'duplicate'/,
    waitMs: 10,
    inbox: class extends RightInbox {
      protected override giveUp(): InboxOutcome {
        return 'duplicate';
      }
    },
  },
  {
    flaw: 'refuses all payments while one is being processed',
    caughtBy: 'processes a payment while another is being processed',
    says: /must answer 'processed', but answered 'busy'/,
    inbox: class extends RightInbox {
      protected override holder(): Claim | undefined {
        return [...this.store.claims.values()].at(0);
      }
    },
  },
  {
    flaw: 'lets all payments wait while one is being processed',
    caughtBy: 'processes a payment while another is being processed',
    says: /has not ended after 200 ms/,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends RightInbox {
      protected override holder(): Claim | undefined {
        return [...this.store.claims.values()].at(0);
      }
    },
  },
];
