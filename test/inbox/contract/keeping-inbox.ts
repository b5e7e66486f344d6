import { InboxError, RetryLaterError } from '../../../src/errors.js';
import type {
  ChangeId,
  FailedChange,
  FailedChangesOptions,
  FailurePolicy,
} from '../../../src/inbox/failed-changes.js';
import type { InboxEvent, InboxOutcome } from '../../../src/inbox/inbox.js';
import { type Change, RightInbox, type Work } from './right-inbox.js';

export interface Kept extends FailedChange {
  readonly at: number;
}

/** A right inbox that keeps failures, in steps that a wrong one overrides. */
export class KeepingInbox extends RightInbox {
  override async process(event: InboxEvent, work: Work): Promise<InboxOutcome> {
    const change = this.read(event);
    const policy = event.failures ?? {};
    let refusal: InboxError | undefined;
    let hasRun = false;
    try {
      return await super.process(event, async (context) => {
        refusal = this.refuse(change, policy);
        if (refusal !== undefined) throw refusal;
        hasRun = true;
        await work(context);
        this.forget(change);
      });
    } catch (error) {
      if (refusal?.code === 'CHANGE_BLOCKED' && !this.kept(change)?.parked) {
        this.keep(change, event, error, 0).parked = true;
      } else if (hasRun && this.isFailure(error)) {
        this.park(this.keep(change, event, error, 1), policy);
      }
      throw error;
    }
  }

  async *failedChanges(options: FailedChangesOptions = {}): AsyncGenerator<FailedChange> {
    yield* this.list(options);
  }

  async discard({ key, paymentReference }: ChangeId): Promise<boolean> {
    return this.store.failures.delete(JSON.stringify([paymentReference, key]));
  }

  protected list({ limit, paymentReference }: FailedChangesOptions): Kept[] {
    return [...this.store.failures.values()]
      .filter((kept) => [undefined, kept.paymentReference].includes(paymentReference))
      .slice(0, limit);
  }

  protected kept({ id }: Change): Kept | undefined {
    return this.store.failures.get(id);
  }

  protected refuse(change: Change, policy: FailurePolicy): InboxError | undefined {
    if (this.kept(change)?.parked && !policy.runParked) {
      return new InboxError('CHANGE_PARKED', 'It is parked');
    }
    if (!policy.blockParked || !this.isBehind(change)) return undefined;
    return new InboxError('CHANGE_BLOCKED', 'An earlier one is parked');
  }

  protected isBehind({ payment, at }: Change): boolean {
    return [...this.store.failures.values()].some(
      (kept) => kept.paymentReference === payment && kept.parked && kept.at < at,
    );
  }

  protected isFailure(error: unknown): boolean {
    const { cause } = error as Error;
    return !(error instanceof RetryLaterError) && !(cause instanceof RetryLaterError);
  }

  protected keep(change: Change, event: InboxEvent, error: unknown, attempts: number): Kept {
    const before = this.kept(change);
    const rawBody = event.failures?.getRawBody?.() ?? before?.rawBody;
    const kept: Kept = {
      key: change.key,
      paymentReference: change.payment,
      at: change.at,
      occurredAt: event.occurredAt,
      attempts: (before?.attempts ?? 0) + attempts,
      firstFailedAt: before?.firstFailedAt ?? new Date(),
      lastFailedAt: new Date(),
      parked: before?.parked ?? false,
      error: this.describe(error as Error & { code?: string }),
      ...(rawBody && { rawBody }),
    };
    this.store.failures.set(change.id, kept);
    return kept;
  }

  protected park(kept: Kept, { parkAfter, onParked }: FailurePolicy): void {
    if (kept.parked || parkAfter === undefined || kept.attempts < parkAfter) return;
    kept.parked = true;
    onParked?.(kept.attempts);
  }

  protected describe({ name, code, message }: Error & { code?: string }): FailedChange['error'] {
    const shown = message.replaceAll(/\p{Cc}/gu, ' ').slice(0, 500);
    return { name, ...(code && { code }), message: shown };
  }

  protected forget({ id }: Change): void {
    this.store.failures.delete(id);
  }
}

/** A right one, too: a payment is `busy` in a process that works on it, with or without the claim. */
export class ProcessBoundInbox extends KeepingInbox {
  readonly #running = new Set<string>();

  override async process(event: InboxEvent, work: Work): Promise<InboxOutcome> {
    const change = this.read(event);
    if (this.#running.has(change.payment)) return this.check(change) ?? this.answerRunning();
    this.#running.add(change.payment);
    try {
      return await super.process(event, work);
    } finally {
      this.#running.delete(change.payment);
    }
  }

  protected answerRunning(): InboxOutcome {
    return 'busy';
  }
}
