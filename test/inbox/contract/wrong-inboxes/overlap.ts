import type { InboxEvent } from '../../../../src/inbox/inbox.js';
import { type Change, type Claim, RightInbox } from '../right-inbox.js';
import type { WrongInbox } from './wrong-inbox.js';

export const wrongOverlap: readonly WrongInbox[] = [
  {
    flaw: 'claims a change, not its payment',
    caughtBy: 'never processes two changes of one payment at once',
    says: /ran beside other work for the same payment/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        const change = super.read(event);
        return { ...change, payment: change.id };
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
    waits: true,
    inbox: class extends RightInbox {
      protected override holder(): Claim | undefined {
        return [...this.store.claims.values()].at(0);
      }
    },
  },
];
