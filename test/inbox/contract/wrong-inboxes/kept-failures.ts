import type { InboxError } from '../../../../src/errors.js';
import type { FailedChangesOptions, FailurePolicy } from '../../../../src/inbox/failed-changes.js';
import type { InboxEvent, InboxOutcome } from '../../../../src/inbox/inbox.js';
import { KeepingInbox, type Kept } from '../keeping-inbox.js';
import type { Change, Work } from '../right-inbox.js';
import type { WrongInbox } from './wrong-inbox.js';

export const wrongKeepers: readonly WrongInbox[] = [
  {
    flaw: 'keeps no failure',
    caughtBy: 'lists a change whose work failed, with how often and why',
    says: /must list a change whose work failed/,
    inbox: class extends KeepingInbox {
      protected override isFailure(): boolean {
        return false;
      }
    },
  },
  {
    flaw: 'counts one attempt however often a change fails',
    caughtBy: 'lists a change whose work failed, with how often and why',
    says: /attempts must count each failure/,
    inbox: class extends KeepingInbox {
      protected override keep(change: Change, event: InboxEvent, error: unknown): Kept {
        this.forget(change);
        return super.keep(change, event, error, 1);
      }
    },
  },
  {
    flaw: 'keeps the failure of a change that was processed',
    caughtBy: 'forgets the failures of a change that is processed',
    says: /must list nothing of a change that was processed/,
    inbox: class extends KeepingInbox {
      protected override forget(): void {}
    },
  },
  {
    flaw: 'takes a RetryLaterError for a failure',
    caughtBy: 'does not count a RetryLaterError as a failure, nor an error that it caused',
    says: /must list nothing of work that asks to retry later/,
    inbox: class extends KeepingInbox {
      protected override isFailure(): boolean {
        return true;
      }
    },
  },
  {
    flaw: 'discards all changes of a payment',
    caughtBy: 'discards the failures of a change, and runs it when it is delivered again',
    says: /must forget this change and no other/,
    inbox: class extends KeepingInbox {
      override async discard(change: Parameters<KeepingInbox['discard']>[0]): Promise<boolean> {
        const had = await super.discard(change);
        for (const other of this.list(change)) await super.discard(other);
        return had;
      }
    },
  },
  {
    flaw: 'runs a parked change again',
    caughtBy: 'parks a change that has failed parkAfter times, and does not run it again',
    says: /process must reject, but answered 'processed'/,
    inbox: class extends KeepingInbox {
      protected override refuse(): InboxError | undefined {
        return undefined;
      }
    },
  },
  {
    flaw: 'calls onParked at each failure',
    caughtBy: 'parks a change that has failed parkAfter times, and does not run it again',
    says: /onParked must be called at the failure that parks/,
    inbox: class extends KeepingInbox {
      protected override park(kept: Kept, policy: FailurePolicy): void {
        policy.onParked?.(kept.attempts);
        super.park(kept, { ...policy, onParked: () => undefined });
      }
    },
  },
  {
    flaw: 'does not run a parked change at a replay either',
    caughtBy:
      'runs a parked change that is replayed, and forgets its failures when it is processed',
    says: /attempts: 1/,
    inbox: class extends KeepingInbox {
      protected override refuse(change: Change, policy: FailurePolicy): InboxError | undefined {
        return super.refuse(change, { ...policy, runParked: false });
      }
    },
  },
  {
    flaw: 'blocks the later changes without being asked to',
    caughtBy: 'runs the other changes of a payment that has a parked change',
    says: /An earlier one is parked/,
    inbox: class extends KeepingInbox {
      protected override refuse(change: Change, policy: FailurePolicy): InboxError | undefined {
        return super.refuse(change, { ...policy, blockParked: true });
      }
    },
  },
  {
    flaw: 'blocks the earlier changes too',
    caughtBy:
      'parks the later changes of a payment behind a parked one with blockParked, and replays them in order',
    says: /An earlier one is parked/,
    inbox: class extends KeepingInbox {
      protected override isBehind({ payment, id }: Change): boolean {
        const kept = this.list({ paymentReference: payment });
        return kept.some((one) => one.parked && JSON.stringify([payment, one.key]) !== id);
      }
    },
  },
  {
    flaw: 'looks for what is parked when a change arrives, not when it is claimed',
    caughtBy: 'parks a change with blockParked that was waiting while the earlier one was parked',
    says: /ran though the one before it was being parked/,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends KeepingInbox {
      readonly #behind = new Map<string, boolean>();

      override process(event: InboxEvent, work: Work): Promise<InboxOutcome> {
        const change = this.read(event);
        this.#behind.set(change.id, super.isBehind(change));
        return super.process(event, work);
      }

      protected override isBehind({ id }: Change): boolean {
        return this.#behind.get(id) === true;
      }
    },
  },
  {
    flaw: 'loses one of two failures at once',
    caughtBy: 'counts each failure of concurrent deliveries',
    says: /attempts|1 !== /,
    waitMs: Number.POSITIVE_INFINITY,
    inbox: class extends KeepingInbox {
      protected override keep(change: Change, event: InboxEvent, error: unknown): Kept {
        return super.keep(change, event, error, this.kept(change) === undefined ? 1 : 0);
      }
    },
  },
  {
    flaw: 'lists more than the limit',
    caughtBy:
      'lists failed changes by their first failure, up to the limit, even while they are discarded',
    says: /limit must cut the list/,
    inbox: class extends KeepingInbox {
      protected override list({ paymentReference }: FailedChangesOptions): Kept[] {
        return super.list({ paymentReference });
      }
    },
  },
  {
    flaw: 'lists nothing unless a payment is named',
    caughtBy: 'lists the failed changes of every payment',
    says: /a payment is missing in failedChanges\(\)/,
    inbox: class extends KeepingInbox {
      protected override list(options: FailedChangesOptions): Kept[] {
        return options.paymentReference === undefined ? [] : super.list(options);
      }
    },
  },
  {
    flaw: 'keeps a message as it is',
    caughtBy:
      'lists and discards failed changes whatever characters their names and errors contain',
    says: /a long message must be cut/,
    inbox: class extends KeepingInbox {
      protected override describe({ name, message }: Error) {
        return { name, message };
      }
    },
  },
  {
    flaw: 'forgets the body at a failure that gives none',
    caughtBy:
      'keeps the last body of a failed change as received, and reads no body without a failure',
    says: /rawBody must be a Uint8Array/,
    inbox: class extends KeepingInbox {
      protected override keep(...args: Parameters<KeepingInbox['keep']>): Kept {
        const kept = super.keep(...args);
        if (args[1].failures === undefined) delete kept.rawBody;
        return kept;
      }
    },
  },
];
