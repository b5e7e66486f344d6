import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { Finding } from '../../src/store/payment-row.js';
import { type OwnedRow, type StoredRecord, visible } from '../../src/store/steps.js';
import type { Turns } from './turns.js';

/** The merchant's reference of the one order. */
export const REFERENCE = 'order-1';

const LIMITS = { maxEntries: 1_000, retentionMs: 1_000_000_000 };
const ALL = { olderThanMs: 0, after: undefined, limit: 100 };

/** The memory store's tables, which also show what is in them, without changing it as their reader would. */
export class Tables extends MemoryBackend {
  readonly #turns: Turns;

  constructor(turns: Turns) {
    super({ ...LIMITS, now: () => turns.nowMs });
    this.#turns = turns;
  }

  /** A copy, since the row itself changes. */
  row(): OwnedRow | undefined {
    const row = this.rows.get(REFERENCE);
    return row && { ...row };
  }

  /** What `get()` shows. */
  shown(): ReturnType<typeof visible> {
    const row = this.row();
    return row && visible(row, this.#turns.nowMs);
  }

  /** A payment's record among the second payments; undefined if it is not there. */
  second(referenceNumber: string): StoredRecord | undefined {
    return this.secondOf(REFERENCE, { referenceNumber } as Finding);
  }

  async failures(): Promise<ReadonlyMap<string, { attempts: number; parked: boolean }>> {
    const rows = await this.listFailed(ALL, undefined);
    return new Map(
      rows.map(({ change: { key, attempts, parked } }) => [key, { attempts, parked }]),
    );
  }

  /** The row with ages in place of times. */
  dump(isPruned: boolean): unknown {
    const row = this.row();
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
