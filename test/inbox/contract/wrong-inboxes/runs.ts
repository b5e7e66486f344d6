import type { InboxContext, InboxEvent, InboxOutcome } from '../../../../src/inbox/inbox.js';
import { type Change, type Claim, RightInbox, Store, type Work } from '../right-inbox.js';
import { HELD_OFF, type WrongInbox } from './wrong-inbox.js';

export const wrongRuns: readonly WrongInbox[] = [
  {
    flaw: 'answers before the work has completed',
    caughtBy: 'runs the work and answers processed when it has completed',
    says: /answered before the work had completed/,
    inbox: class extends RightInbox {
      protected override async run(work: Work, claim: Claim): Promise<void> {
        super.run(work, claim).catch(() => undefined);
      }
    },
  },
  {
    flaw: 'runs the work twice',
    caughtBy: 'runs the work and answers processed when it has completed',
    says: /answered 'processed' and ran the work 2 times/,
    inbox: class extends RightInbox {
      protected override async run(work: Work, claim: Claim): Promise<void> {
        await super.run(work, claim);
        await super.run(work, claim);
      }
    },
  },
  {
    flaw: 'knows only what it processed itself',
    caughtBy:
      'answers duplicate when a processed change is delivered again, to this inbox or another',
    says: /must answer 'duplicate', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override readonly store = new Store();
    },
  },
  {
    flaw: 'claims nothing',
    caughtBy: 'runs the work of only one of 50 concurrent deliveries',
    says: /50 of 50 deliveries at once were processed/,
    inbox: class extends RightInbox {
      protected override holder(): undefined {}
      protected override holds(): boolean {
        return true;
      }
    },
  },
  {
    flaw: 'answers duplicate while the first delivery is in flight',
    caughtBy: 'does not answer duplicate while the first delivery is still being processed',
    says: HELD_OFF,
    inbox: class extends RightInbox {
      readonly #inFlight = inFlightOf(this.store);
      protected override check(change: Change): InboxOutcome | undefined {
        return this.#inFlight.has(change.id) ? 'duplicate' : super.check(change);
      }
      protected override claim(change: Change): Claim {
        this.#inFlight.add(change.id);
        return super.claim(change);
      }
      protected override release(change: Change, claim: Claim): void {
        this.#inFlight.delete(change.id);
        super.release(change, claim);
      }
    },
  },
  {
    flaw: 'gives no signal',
    caughtBy: 'passes the work a signal that is not aborted',
    says: /must be an AbortSignal/,
    inbox: class extends RightInbox {
      protected override async run(work: Work): Promise<void> {
        await work({ tx: undefined } as InboxContext<undefined>);
      }
    },
  },
  {
    flaw: 'gives a signal that is aborted',
    caughtBy: 'passes the work a signal that is not aborted',
    says: /is aborted though nothing was lost/,
    inbox: class extends RightInbox {
      protected override async run(work: Work, { stale }: Claim): Promise<void> {
        await work({ tx: undefined, signal: AbortSignal.abort(), stale });
      }
    },
  },
  {
    flaw: 'reads the event after a wait',
    caughtBy: 'processes the event as it was at the call, even if the caller changes it afterwards',
    says: /must answer/,
    inbox: class extends RightInbox {
      override async process(event: InboxEvent, work: Work): Promise<InboxOutcome> {
        await Promise.resolve();
        return super.process(event, work);
      }
    },
  },
  {
    flaw: 'reads the time of the event after a wait',
    caughtBy: 'processes the event as it was at the call, even if the caller changes it afterwards',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      override async process(event: InboxEvent, work: Work): Promise<InboxOutcome> {
        const { key, paymentReference } = event;
        await Promise.resolve();
        return super.process({ ...event, key, paymentReference }, work);
      }
    },
  },
  {
    flaw: 'keeps the date of the caller, which may be set',
    caughtBy: 'processes the event as it was at the call, even if the caller changes it afterwards',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      override async process(event: InboxEvent, work: Work): Promise<InboxOutcome> {
        const kept = { ...event };
        await Promise.resolve();
        return super.process(kept, work);
      }
    },
  },
];

const inFlight = new WeakMap<Store, Set<string>>();

function inFlightOf(store: Store): Set<string> {
  const known = inFlight.get(store) ?? new Set();
  inFlight.set(store, known);
  return known;
}
