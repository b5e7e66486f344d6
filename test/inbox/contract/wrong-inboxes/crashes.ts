import type { InboxOutcome } from '../../../../src/inbox/inbox.js';
import { ProcessBoundInbox } from '../keeping-inbox.js';
import { type Change, type Claim, RightInbox, type Work } from '../right-inbox.js';
import { HELD_OFF, type WrongInbox } from './wrong-inbox.js';

export const wrongCrashes: readonly WrongInbox[] = [
  {
    flaw: 'keeps the claim of a holder that died',
    caughtBy: 'processes an event on another inbox after its holder died',
    says: /must answer 'processed', but answered 'busy'/,
    inbox: class extends RightInbox {
      override loseClaim(): void {}
    },
  },
  {
    flaw: 'lets a late holder record',
    caughtBy: 'rejects for a holder that completes after another holder has processed the event',
    says: /must reject, but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override finish(change: Change, claim: Claim): void {
        this.record(change);
        this.release(change, claim);
      }
    },
  },
  {
    flaw: 'lets a late holder record, and rejects',
    caughtBy: 'does not mark an event as processed when a holder that has lost it completes',
    says: HELD_OFF,
    inbox: class extends RightInbox {
      protected override finish(change: Change, claim: Claim): void {
        this.record(change);
        super.finish(change, claim);
      }
    },
  },
  {
    flaw: 'lets a late holder free the claim of another',
    caughtBy: 'does not release an event when a holder that has lost it fails',
    says: /ran at the same time as other work for the same payment/,
    inbox: class extends RightInbox {
      protected override fail(change: Change, claim: Claim): void {
        this.store.claims.delete(change.payment);
        claim.end();
      }
    },
  },
  ...[
    {
      caughtBy:
        'does not mark an event as processed when a holder that lost it to its own process completes',
      says: /must reject, but answered 'processed'/,
    },
    {
      caughtBy: 'does not release an event when a holder that lost it to its own process fails',
      says: /ran at the same time as other work for the same payment/,
    },
  ].map((caught) => ({
    ...caught,
    flaw: 'takes any claim of its process for that of the call',
    inbox: class extends RightInbox {
      readonly #mine = new WeakSet<Claim>();
      protected override claim(change: Change): Claim {
        const claim = super.claim(change);
        this.#mine.add(claim);
        return claim;
      }
      protected override holds({ payment }: Change): boolean {
        const present = this.store.claims.get(payment);
        return present !== undefined && this.#mine.has(present);
      }
    },
  })),
  {
    flaw: 'answers duplicate while its own work continues after losing its claim',
    caughtBy:
      'does not mark an event as processed when a holder that lost it to its own process completes',
    says: /the work must run, but process answered 'duplicate' without running it/,
    inbox: class extends ProcessBoundInbox {
      protected override answerRunning(): InboxOutcome {
        return 'duplicate';
      }
    },
  },
  {
    flaw: 'never aborts the signal',
    caughtBy: 'aborts the signal of a holder that has lost its event',
    says: /a signal that should abort has not/,
    inbox: class extends RightInbox {
      protected override async run(work: Work, { stale }: Claim): Promise<void> {
        await work({ tx: undefined, signal: new AbortController().signal, stale });
      }
    },
  },
  {
    flaw: 'lets a late holder lower the watermark, and rejects',
    caughtBy:
      'keeps the watermark of the newest change when the holder of an older one completes late',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override finish(change: Change, claim: Claim): void {
        if (!this.holds(change, claim)) this.store.watermarks.set(change.payment, change.at);
        super.finish(change, claim);
      }
    },
  },
  {
    flaw: 'lets a late holder lower the watermark, and takes a change of the same time for stale',
    caughtBy:
      'keeps the watermark of the newest change when the holder of an older one completes late',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override isStale(change: Change): boolean {
        return super.isStale({ ...change, at: change.at - 1 });
      }
      protected override finish(change: Change, claim: Claim): void {
        if (!this.holds(change, claim)) this.store.watermarks.set(change.payment, change.at);
        super.finish(change, claim);
      }
    },
  },
];
