import { type Change, type Claim, RightInbox, type Store } from '../right-inbox.js';
import type { WrongInbox } from './wrong-inbox.js';

const TOLD = 'runs a stale change with stale true, on this inbox and another';
const NOT_TOLD = 'runs a change with stale false when no newer one was processed';

export const wrongStale: readonly WrongInbox[] = [
  {
    flaw: 'takes no change for stale that it runs',
    caughtBy: TOLD,
    says: /context\.stale must be true/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        return this.grant(change, false);
      }
    },
  },
  {
    flaw: 'knows the newest change only of what it processed itself',
    caughtBy: TOLD,
    says: /context\.stale must be true/,
    inbox: class extends RightInbox {
      readonly #newest = new Map<string, number>();
      protected override claim(change: Change): Claim {
        return this.grant(change, change.at < (this.#newest.get(change.payment) ?? 0));
      }
      protected override record(change: Change): void {
        super.record(change);
        this.#newest.set(change.payment, change.at);
      }
    },
  },
  {
    flaw: 'takes every change for stale that may be',
    caughtBy: NOT_TOLD,
    says: /context\.stale must be false/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        return this.grant(change, change.processStale);
      }
    },
  },
  {
    flaw: 'runs a change of the same time as stale',
    caughtBy: NOT_TOLD,
    says: /context\.stale must be false/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        return this.grant(change, this.isOlder({ ...change, at: change.at - 1 }));
      }
    },
  },
  {
    flaw: 'measures by a newer change that failed',
    caughtBy: NOT_TOLD,
    says: /context\.stale must be false/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        const claim = super.claim(change);
        if (change.processStale) this.store.watermarks.set(change.payment, change.at);
        return claim;
      }
    },
  },
  {
    flaw: 'says stale as a database does that has no booleans',
    caughtBy: NOT_TOLD,
    says: /context\.stale must be false/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        return this.grant(change, Number(this.isOlder(change)) as never);
      }
    },
  },
  {
    flaw: 'does not record a stale change',
    caughtBy: 'answers duplicate to a stale change that was processed, to this inbox and another',
    says: /must answer 'duplicate', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override record(change: Change): void {
        if (!this.isOlder(change)) super.record(change);
      }
    },
  },
  {
    flaw: 'keeps the claim of a stale change that failed',
    caughtBy: 'runs a stale change again, with stale true, after its work failed',
    says: /must reject, but answered 'busy'/,
    inbox: class extends RightInbox {
      protected override fail(change: Change, claim: Claim): void {
        if (!claim.stale) super.fail(change, claim);
      }
    },
  },
  {
    flaw: 'takes a stale change that failed for processed',
    caughtBy: 'runs a stale change again, with stale true, after its work failed',
    says: /must reject, but answered 'duplicate'/,
    inbox: class extends RightInbox {
      protected override fail(change: Change, claim: Claim): void {
        if (claim.stale) this.record(change);
        super.fail(change, claim);
      }
    },
  },
  {
    flaw: 'forgets the newest change when a stale one fails',
    caughtBy: 'runs a stale change again, with stale true, after its work failed',
    says: /context\.stale must be true/,
    inbox: class extends RightInbox {
      protected override fail(change: Change, claim: Claim): void {
        if (claim.stale) this.store.watermarks.delete(change.payment);
        super.fail(change, claim);
      }
    },
  },
  {
    flaw: 'looks whether a change is stale before it waits',
    caughtBy:
      'runs with stale true an older change that arrived while a newer one was being processed',
    says: /context\.stale must be true/,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends RightInbox {
      readonly #found = new WeakMap<Change, boolean>();
      protected override holder(change: Change): Claim | undefined {
        if (!this.#found.has(change)) this.#found.set(change, this.isOlder(change));
        return super.holder(change);
      }
      protected override claim(change: Change): Claim {
        return this.grant(change, this.#found.get(change) ?? false);
      }
    },
  },
];

const IN_ORDER =
  'runs every change that arrived while another was being processed, in the order of arrival';

export const wrongTurns: readonly WrongInbox[] = [
  {
    flaw: 'lets in the last first of those that wait',
    caughtBy: IN_ORDER,
    says: /context\.stale must be false/,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends RightInbox {
      protected override async endsInTime(claim: Claim): Promise<boolean> {
        const turnsLost = 10 - countWaiting(this.store);
        const ended = await super.endsInTime(claim);
        for (let turn = 0; turn < turnsLost; turn += 1) await Promise.resolve();
        return ended;
      }
    },
  },
  {
    flaw: 'takes every delivery received while another change was in flight for a duplicate',
    caughtBy: IN_ORDER,
    says: /must answer 'processed', but answered 'duplicate'/,
    inbox: class extends RightInbox {
      protected override holder(change: Change): Claim | undefined {
        const holder = super.holder(change);
        if (holder !== undefined) this.store.processed.add(change.id);
        return holder;
      }
    },
  },
];

const waiting = new WeakMap<Store, number>();

function countWaiting(store: Store): number {
  const count = (waiting.get(store) ?? 0) + 1;
  waiting.set(store, count);
  return count;
}
