import type { InboxEvent, InboxOutcome } from '../../../../src/inbox/inbox.js';
import { type Change, type Claim, RightInbox } from '../right-inbox.js';
import { HELD_OFF, type WrongInbox } from './wrong-inbox.js';

const comparisonsOfText: readonly (readonly [string, (at: number) => string])[] = [
  [
    'compares ISO times with the microseconds not padded',
    (at) => `${new Date(at / 1000).toISOString()}${at % 1000}`,
  ],
  [
    'compares ISO times with the milliseconds not padded',
    (at) => `${new Date(at / 1000).toISOString().slice(0, 19)}.${(at / 1000) % 1000}`,
  ],
  ['compares epoch microseconds as text', String],
];

const roundings = [
  {
    flaw: 'rounds times up to ten microseconds',
    caughtBy: 'distinguishes changes within one millisecond by their microseconds',
    round: (at: number) => Math.ceil(at / 10),
  },
  {
    flaw: 'rounds times down to ten microseconds',
    caughtBy: 'distinguishes changes within one millisecond by their microseconds',
    round: (at: number) => Math.floor(at / 10),
  },
  {
    flaw: 'rounds times to milliseconds',
    caughtBy: 'runs a change of the next millisecond with fewer microseconds',
    round: (at: number) => Math.round(at / 1000),
  },
  {
    flaw: 'rounds times up to ten microseconds',
    caughtBy: 'processes the event as it was at the call, even if the caller changes it afterwards',
    round: (at: number) => Math.ceil(at / 10),
  },
];

export const wrongOrder: readonly WrongInbox[] = [
  {
    flaw: 'keeps no watermark',
    caughtBy: 'answers stale to a change older than the last one processed',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override isStale(): boolean {
        return false;
      }
    },
  },
  {
    flaw: 'forgives a change that it comes less than half a minute late',
    caughtBy: 'answers stale to a change older than the last one processed',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override isStale(change: Change): boolean {
        return super.isStale({ ...change, at: change.at + 30_000_000 });
      }
    },
  },
  {
    flaw: 'records a stale change as processed',
    caughtBy: 'answers stale to a stale change that is delivered again',
    says: /must answer 'stale', but answered 'duplicate'/,
    inbox: class extends RightInbox {
      protected override check(change: Change): InboxOutcome | undefined {
        const known = super.check(change);
        if (known === 'stale') this.store.processed.add(change.id);
        return known;
      }
    },
  },
  {
    flaw: 'takes no notice of processStale',
    caughtBy: 'runs a stale change with processStale, once',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      protected override isStale(change: Change): boolean {
        return super.isStale({ ...change, processStale: false });
      }
    },
  },
  {
    flaw: 'lowers the watermark',
    caughtBy:
      'keeps the watermark of the newest change after an older one was run with processStale',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override record(change: Change): void {
        super.record(change);
        this.store.watermarks.set(change.payment, change.at);
      }
    },
  },
  {
    flaw: 'lowers the watermark, and takes a change of the same time for stale',
    caughtBy:
      'keeps the watermark of the newest change after an older one was run with processStale',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override isStale(change: Change): boolean {
        return super.isStale({ ...change, at: change.at - 1 });
      }
      protected override record(change: Change): void {
        super.record(change);
        this.store.watermarks.set(change.payment, change.at);
      }
    },
  },
  {
    flaw: 'looks at the watermark before the key',
    caughtBy: 'answers duplicate to a processed change after a newer one, with processStale too',
    says: /must answer 'duplicate', but answered 'stale'/,
    inbox: class extends RightInbox {
      protected override check(change: Change): InboxOutcome | undefined {
        return this.isStale(change) ? 'stale' : super.check(change);
      }
    },
  },
  {
    flaw: 'takes processStale for leave to run anything older again',
    caughtBy: 'answers duplicate to a processed change after a newer one, with processStale too',
    says: /must answer 'duplicate', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override check(change: Change): InboxOutcome | undefined {
        const isOlder = this.isStale({ ...change, processStale: false });
        return change.processStale && isOlder ? undefined : super.check(change);
      }
    },
  },
  {
    flaw: 'takes a change of the same time for stale',
    caughtBy: 'runs another change with the same time',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      protected override isStale(change: Change): boolean {
        return super.isStale({ ...change, at: change.at - 1 });
      }
    },
  },
  {
    flaw: 'takes microseconds that are not given for the end of the millisecond',
    caughtBy: 'runs another change with the same time',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        return super.read({ ...event, microseconds: event.microseconds ?? 999 });
      }
    },
  },
  {
    flaw: 'ignores microseconds',
    caughtBy: 'distinguishes changes within one millisecond by their microseconds',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        return super.read({ ...event, microseconds: 0 });
      }
    },
  },
  {
    flaw: 'keeps fourteen digits of a time, as Lua does',
    caughtBy: 'distinguishes changes within one millisecond by their microseconds',
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        const change = super.read(event);
        return { ...change, at: Number(change.at.toPrecision(14)) };
      }
    },
  },
  ...roundings.map(({ flaw, caughtBy, round }) => ({
    flaw,
    caughtBy,
    says: /must answer 'stale', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        const change = super.read(event);
        return { ...change, at: round(change.at) };
      }
    },
  })),
  {
    flaw: 'compares milliseconds and microseconds each by itself',
    caughtBy: 'runs a change of the next millisecond with fewer microseconds',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      protected override isStale({ payment, at }: Change): boolean {
        const newest = this.store.watermarks.get(payment) ?? 0;
        return Math.floor(at / 1000) < Math.floor(newest / 1000) || at % 1000 < newest % 1000;
      }
    },
  },
  ...comparisonsOfText.map(([flaw, toText]) => ({
    flaw,
    caughtBy: 'compares times as numbers, however many digits their parts have',
    says: /must answer '(processed|stale)', but answered/,
    inbox: class extends RightInbox {
      protected override isStale({ payment, at }: Change): boolean {
        const newest = this.store.watermarks.get(payment);
        return newest !== undefined && toText(at) < toText(newest);
      }
    },
  })),
  {
    flaw: 'raises the watermark before the work',
    caughtBy: 'runs an older change after a newer one has failed',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        this.store.watermarks.set(change.payment, change.at);
        return super.claim(change);
      }
    },
  },
  {
    flaw: 'raises the watermark before the work, and lowers it when the work fails',
    caughtBy: 'does not answer stale because of a newer change that is still being processed',
    says: HELD_OFF,
    inbox: class extends RightInbox {
      protected override claim(change: Change): Claim {
        this.store.watermarks.set(change.payment, change.at);
        return super.claim(change);
      }
      protected override fail(change: Change, claim: Claim): void {
        this.store.watermarks.delete(change.payment);
        super.fail(change, claim);
      }
    },
  },
  {
    flaw: 'does not look at the watermark again after it waited',
    caughtBy: 'answers stale to an older change that arrived while a newer one was being processed',
    says: /must answer 'stale' or 'busy', but answered 'processed'/,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends RightInbox {
      readonly #checked = new WeakSet<Change>();
      protected override isStale(change: Change): boolean {
        if (this.#checked.has(change)) return false;
        this.#checked.add(change);
        return super.isStale(change);
      }
    },
  },
];
