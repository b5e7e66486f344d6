import type { InboxOutcome } from '../../../../src/inbox/inbox.js';
import { type Change, type Claim, RightInbox, type Work } from '../right-inbox.js';
import { HELD_OFF, type WrongInbox } from './wrong-inbox.js';

export const wrongFailures: readonly WrongInbox[] = [
  {
    flaw: 'records before the work',
    caughtBy: 'rejects with the original error of the work, and runs the next delivery',
    says: /must reject, but answered 'duplicate'/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        this.record(change);
        return super.claim(change);
      }
    },
  },
  {
    flaw: 'swallows the error of the work',
    caughtBy: 'rejects with the original error of the work, and runs the next delivery',
    says: /must reject, but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override async run(work: Work, claim: Claim): Promise<void> {
        await super.run(work, claim).catch(() => undefined);
      }
    },
  },
  {
    flaw: 'wraps the error of the work',
    caughtBy: 'rejects with the original error of the work, and runs the next delivery',
    says: /must reject with the error of the work itself/,
    inbox: class extends RightInbox {
      protected override async run(work: Work, claim: Claim): Promise<void> {
        await super.run(work, claim).catch((cause) => {
          throw new Error('The work failed', { cause });
        });
      }
    },
  },
  {
    flaw: 'keeps the claim when the work fails',
    caughtBy: 'rejects with the original error of the work, and runs the next delivery',
    says: /must reject, but answered 'busy'/,
    inbox: class extends RightInbox {
      protected override fail(): void {}
    },
  },
  {
    flaw: 'waits for ever when the work has failed',
    caughtBy: 'rejects with the original error of the work, and runs the next delivery',
    says: /has not ended after 200 ms/,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends RightInbox {
      protected override fail(): void {}
    },
  },
  {
    flaw: 'wraps the error of work that throws at once',
    caughtBy: 'treats work that throws synchronously as work that failed',
    says: /must reject with the error of the work itself/,
    inbox: class extends RightInbox {
      protected override async run(work: Work, { controller, stale }: Claim): Promise<void> {
        let running: Promise<void>;
        try {
          running = work({ tx: undefined, signal: controller.signal, stale });
        } catch (cause) {
          throw new Error('The work threw', { cause });
        }
        await running;
      }
    },
  },
  {
    flaw: 'keeps the claim when the work throws at once',
    caughtBy: 'treats work that throws synchronously as work that failed',
    says: /must answer 'processed', but answered 'busy'/,
    inbox: class extends RightInbox {
      #threwAtOnce = false;
      protected override async run(work: Work, { controller, stale }: Claim): Promise<void> {
        this.#threwAtOnce = true;
        const running = work({ tx: undefined, signal: controller.signal, stale });
        this.#threwAtOnce = false;
        await running;
      }
      protected override fail(change: Change, claim: Claim): void {
        if (!this.#threwAtOnce) super.fail(change, claim);
      }
    },
  },
  {
    flaw: 'answers duplicate to deliveries received while the first, which failed, was in flight',
    caughtBy: 'completes the work once when the first of three concurrent deliveries fails',
    says: HELD_OFF,
    inbox: class extends RightInbox {
      protected override check(change: Change): InboxOutcome | undefined {
        return super.holder(change) ? 'duplicate' : super.check(change);
      }
    },
  },
  {
    flaw: 'lets all run that waited for one that failed',
    caughtBy: 'completes the work once when the first of three concurrent deliveries fails',
    says: /2 deliveries were processed, not one/,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends RightInbox {
      readonly #waited = new WeakSet<Change>();
      protected override holder(change: Change): Claim | undefined {
        if (this.#waited.has(change)) return undefined;
        this.#waited.add(change);
        return super.holder(change);
      }
      protected override holds(): boolean {
        return true;
      }
    },
  },
];
