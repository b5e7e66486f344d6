import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { ServiceRecord } from '../../src/store/payment-row.js';
import { type OwnedRow, type StoredRecord, visible } from '../../src/store/steps.js';
import type { Turns } from './turns.js';

/** The merchant's reference of the one order. */
export const REFERENCE = 'order-1';

/** A payment, by the service's reference and the merchant's. */
export interface Numbered {
  readonly number: string;
  readonly reference: string;
}

const ALL = { olderThanMs: 0, after: undefined, limit: 100 };

/** The memory store's tables, which also show what is in them, without changing it as their reader would. */
export class Tables extends MemoryBackend {
  readonly #turns: Turns;

  constructor(turns: Turns) {
    super({ maxEntries: 1_000, now: () => turns.nowMs });
    this.#turns = turns;
  }

  /** A copy, since the row itself changes, with the payment that has paid its order. */
  row(reference: string = REFERENCE): OwnedRow | undefined {
    const entry = this.entries.get(reference);
    return entry && { ...entry.row, paidBy: this.firstOf(entry).row.paidBy };
  }

  /** The references of all rows. */
  get references(): readonly string[] {
    return [...this.entries.keys()].sort();
  }

  /** Whether the payment of an attempt has paid the order, as its own row says. */
  hasPaid(reference: string): boolean {
    return this.entries.get(reference)?.row.paidBy !== undefined;
  }

  /** The references of the order, from the first attempt to the latest. */
  get attempts(): readonly string[] {
    return this.attemptsAt(REFERENCE).map(({ key }) => key);
  }

  /** What `get()` shows. */
  shown(reference: string): ReturnType<typeof visible> {
    const row = this.row(reference);
    return row && visible(row, this.#turns.nowMs);
  }

  /** A payment's record among the second payments; undefined if it is not there. */
  second({ number, reference }: Numbered): StoredRecord | undefined {
    return this.secondOf(reference, { referenceNumber: number } as ServiceRecord);
  }

  async failures(): Promise<ReadonlyMap<string, { attempts: number; parked: boolean }>> {
    const rows = await this.listFailed(ALL, undefined);
    return new Map(rows.map(({ item: { key, attempts, parked } }) => [key, { attempts, parked }]));
  }

  /** The rows with ages in place of times. */
  dump(isPruned: boolean): unknown {
    return this.references.map((reference) => this.#dumpOne(reference, isPruned));
  }

  #dumpOne(reference: string, isPruned: boolean): unknown {
    const row = this.entries.get(reference)?.row;
    if (row === undefined) return undefined;
    const { recordedAtMs, changedAtMs, sentAtMs, leaseUntilMs, lookAtMs, digest, ...rest } = row;
    const turns = this.#turns;
    // How long ago an ended payment was sent says nothing.
    const isOver = row.state === 'created' || row.state === 'rejected';
    return {
      ...rest,
      sent: isOver ? 0 : turns.ageOf(sentAtMs),
      changed: isPruned && turns.ageOf(changedAtMs),
      lease: turns.ageOf(leaseUntilMs, 0),
      look: isOver ? 0 : turns.ageOf(lookAtMs, 0),
    };
  }
}
