import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallbackInbox,
  type InboxContext,
  type InboxEvent,
  type InboxOutcome,
  toEpochMicroseconds,
} from '../../../src/inbox/inbox.js';
import type { Kept } from './keeping-inbox.js';

/** What several inboxes share, as processes share a database. */
export class Store {
  readonly processed = new Set<string>();
  /** By payment: when the latest processed change happened. */
  readonly watermarks = new Map<string, number>();
  /** By payment. */
  readonly claims = new Map<string, Claim>();
  /** By the id of the change. */
  readonly failures = new Map<string, Kept>();
}

export interface Claim {
  readonly controller: AbortController;
  /** Whether a newer change was processed when it was granted. */
  readonly stale: boolean;
  readonly ended: Promise<void>;
  end(): void;
}

export interface Change {
  readonly id: string;
  readonly key: string;
  readonly payment: string;
  readonly at: number;
  readonly processStale: boolean;
}

export type Work = (context: InboxContext<undefined>) => Promise<void>;

/**
 * An inbox that keeps every promise, in steps that a wrong one overrides. A payment that is being
 * processed is `busy`, or the delivery waits for its end.
 */
export class RightInbox implements CallbackInbox {
  constructor(
    protected readonly store: Store,
    /** How long a delivery waits at most for the end of another of its payment. */
    protected readonly waitMs: number,
  ) {}

  async process(event: InboxEvent, work: Work): Promise<InboxOutcome> {
    const change = this.read(event);
    for (;;) {
      const known = this.check(change);
      if (known !== undefined) return known;
      const holder = this.holder(change);
      if (holder === undefined) break;
      if (!(await this.endsInTime(holder))) return this.giveUp();
    }
    const claim = this.claim(change);
    try {
      await this.run(work, claim);
    } catch (error) {
      this.fail(change, claim);
      throw error;
    }
    this.finish(change, claim);
    return 'processed';
  }

  /** The store takes the present holder for dead. */
  loseClaim(event: InboxEvent): void {
    const { payment } = this.read(event);
    const claim = this.store.claims.get(payment);
    this.store.claims.delete(payment);
    claim?.controller.abort();
    claim?.end();
  }

  protected read(event: InboxEvent): Change {
    return {
      id: JSON.stringify([event.paymentReference, event.key]),
      key: event.key,
      payment: event.paymentReference,
      at: toEpochMicroseconds(event),
      processStale: event.processStale,
    };
  }

  protected check(change: Change): InboxOutcome | undefined {
    if (this.store.processed.has(change.id)) return 'duplicate';
    return this.isStale(change) ? 'stale' : undefined;
  }

  protected isStale(change: Change): boolean {
    return !change.processStale && this.isOlder(change);
  }

  protected isOlder({ payment, at }: Change): boolean {
    return at < (this.store.watermarks.get(payment) ?? 0);
  }

  protected async endsInTime({ ended }: Claim): Promise<boolean> {
    if (this.waitMs === 0) return false;
    const end = ended.then(() => true);
    if (this.waitMs === Number.POSITIVE_INFINITY) return end;
    return Promise.race([end, sleep(this.waitMs, false)]);
  }

  protected giveUp(): InboxOutcome {
    return 'busy';
  }

  protected holder({ payment }: Change): Claim | undefined {
    return this.store.claims.get(payment);
  }

  protected claim(change: Change): Claim {
    return this.grant(change, this.isOlder(change));
  }

  protected grant(change: Change, stale: boolean): Claim {
    const claim = createClaim(stale);
    this.store.claims.set(change.payment, claim);
    return claim;
  }

  protected async run(work: Work, { controller, stale }: Claim): Promise<void> {
    await work({ tx: undefined, signal: controller.signal, stale });
  }

  protected fail(change: Change, claim: Claim): void {
    this.release(change, claim);
  }

  protected finish(change: Change, claim: Claim): void {
    if (!this.holds(change, claim)) throw new Error('The claim was lost');
    this.record(change);
    this.release(change, claim);
  }

  protected record({ id, payment, at }: Change): void {
    this.store.processed.add(id);
    this.store.watermarks.set(payment, Math.max(at, this.store.watermarks.get(payment) ?? 0));
  }

  protected release(change: Change, claim: Claim): void {
    if (this.holds(change, claim)) this.store.claims.delete(change.payment);
    claim.end();
  }

  protected holds({ payment }: Change, claim: Claim): boolean {
    return this.store.claims.get(payment) === claim;
  }
}

function createClaim(stale: boolean): Claim {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { controller: new AbortController(), stale, ended, end };
}
