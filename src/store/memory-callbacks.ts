import { ownFields } from '../protocol/own-fields.js';
import type { CallbackTables, FailedRow } from './backend.js';
import type { ChangeOutcome, ManagedStore, StoreContext } from './callback-store.js';
import type { Change, ChangeName } from './change.js';
import {
  failureOf,
  isNews,
  type Judged,
  judge,
  type KeptFailure,
  parkedError,
  type SeenChange,
} from './change-steps.js';
import { reportParked } from './failure.js';
import { Loss, WorkContext } from './loss.js';
import { ManagedEngine } from './managed-engine.js';
import { warnInProduction } from './memory-warning.js';
import type {
  Cursor,
  Finding,
  Intent,
  Listed,
  ListKind,
  Page,
  RowState,
  SecondRow,
  StoredForms,
} from './payment-row.js';
import type { OwnedRow, RowChange } from './steps.js';

export type Row = { -readonly [Field in keyof OwnedRow]: OwnedRow[Field] };

interface Second extends SecondRow {
  readonly updatedAtUs: number | undefined;
}

/** The processed changes of a payment. */
interface Processed {
  readonly keys: Set<string>;
  readonly watermarkUs: string;
  readonly changedAtMs: number;
}

const MAX_FAILURES = 1_000;

export interface MemoryOptions {
  readonly now: () => number;
  readonly maxEntries: number;
  readonly retentionMs: number;
}

/** Callbacks in this process's memory. Each method is atomic, because it does everything before its first await. */
export class MemoryCallbacks implements CallbackTables<undefined> {
  readonly forms: StoredForms = { toName: (text) => text, toDigest: (text) => text };
  /** The orders by their keys. Like the other maps, those that changed last come last. */
  protected readonly rows = new Map<string, Row>();
  /** By order and payment. */
  readonly #seconds = new Map<string, Second>();
  /** By order and payment, too. */
  readonly #processed = new Map<string, Processed>();
  /** By order, payment and change, in the order of their first failure. */
  readonly #failures = new Map<string, FailedRow>();
  /** The orders of which a change is being processed. */
  readonly #working = new Set<string>();
  readonly #options: MemoryOptions;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  async process(
    change: Change,
    work: (context: StoreContext<undefined>) => Promise<void>,
  ): Promise<ChangeOutcome> {
    warnInProduction();
    const { merchantPaymentReference: key } = change;
    this.#forgetOld();
    const judged = judge(this.#see(change), change);
    const { verdict } = judged;
    if (isNews(judged) || verdict === 'run') this.settleOrder(key, change.finding, judged);
    if (verdict === 'duplicate') return verdict;
    if (this.#working.has(key)) return 'busy';
    if (verdict === 'parked') throw parkedError();
    this.#working.add(key);
    try {
      // Memory can't be lost, so this signal never aborts.
      await work(new WorkContext(undefined, judged, new Loss()));
      this.#remember(change, judged.watermarkUs);
      return 'processed';
    } catch (error) {
      throw this.#fail(change, judged, error);
    } finally {
      this.#working.delete(key);
    }
  }

  #see(change: Change): SeenChange {
    const { merchantPaymentReference: key, referenceNumber } = change;
    const processed = this.#processed.get(nameOf(key, referenceNumber));
    const failed = this.#failures.get(nameOf(key, referenceNumber, change.key))?.change;
    return {
      row: this.rows.get(key),
      isProcessed: processed?.keys.has(change.key) === true,
      watermarkUs: processed?.watermarkUs,
      failure: failed && { attempts: failed.attempts, parked: failed.parked },
      secondUpdatedAtUs: this.secondUpdatedAtUs(key, change.finding),
    };
  }

  /** The time of a payment's record among the second payments; undefined if it is not there. */
  protected secondUpdatedAtUs(key: string, { referenceNumber }: Finding): number | undefined {
    const second = this.#seconds.get(nameOf(key, referenceNumber));
    return second && (second.updatedAtUs ?? 0);
  }

  #remember(change: Change, watermarkUs: string): void {
    const { merchantPaymentReference: order, referenceNumber, key } = change;
    const name = nameOf(order, referenceNumber);
    const keys = this.#processed.get(name)?.keys ?? new Set();
    this.#processed.delete(name);
    this.#processed.set(name, { keys: keys.add(key), watermarkUs, changedAtMs: this.nowMs });
    this.#failures.delete(nameOf(order, referenceNumber, key));
    this.#forgetOld();
  }

  #fail(change: Change, judged: Judged, error: unknown): unknown {
    const kept = failureOf(change, judged, error);
    if (kept !== undefined) this.#keep(change, kept);
    reportParked(change, kept);
    return error;
  }

  #keep(change: Change, { attempts, parked, error, rawBody }: KeptFailure): void {
    const names = [change.merchantPaymentReference, change.referenceNumber, change.key];
    const [merchantPaymentReference, referenceNumber, key] = JSON.parse(change.fullNames);
    const name = nameOf(...names);
    const known = this.#failures.get(name);
    const [oldest = ''] = this.#failures.keys();
    if (known === undefined && this.#failures.size >= MAX_FAILURES) this.#failures.delete(oldest);
    const place = known?.place ?? { atMs: this.nowMs, names };
    const bytes = rawBody === undefined ? known?.change.rawBody : new Uint8Array(rawBody);
    this.#failures.set(name, {
      place,
      change: ownFields({
        kind: 'failed-change' as const,
        merchantPaymentReference,
        since: new Date(place.atMs),
        referenceNumber,
        key,
        occurredAt: new Date(Math.floor(Number(change.occurredAtUs) / 1000)),
        attempts,
        lastFailedAt: new Date(this.nowMs),
        parked,
        error: JSON.parse(error),
        ...(bytes !== undefined && { rawBody: bytes }),
      }),
    });
  }

  /** Stores what a callback or a late answer makes of an order. */
  protected settleOrder(
    key: string,
    finding: Finding,
    { settled, secondUpdatedAtUs }: Pick<Judged, 'settled' | 'secondUpdatedAtUs'>,
  ): void {
    const row = this.rows.get(key) ?? this.insert(key, { body: '', digest: '' }, 'elsewhere');
    if (settled.change !== undefined) this.change(key, row, settled.change);
    if (settled.outcome !== 'second-payment') return;
    const { referenceNumber = '', payment = '{}', updatedAtUs } = finding;
    if (secondUpdatedAtUs !== undefined && (updatedAtUs ?? 0) < secondUpdatedAtUs) return;
    const name = nameOf(key, referenceNumber);
    const place = { atMs: this.nowMs, names: [key, referenceNumber] };
    this.#seconds.set(name, {
      place: this.#seconds.get(name)?.place ?? place,
      payment,
      updatedAtUs,
    });
  }

  protected insert(key: string, intent: Intent, state: RowState): Row {
    warnInProduction();
    const { nowMs } = this;
    const row: Row = {
      state,
      owner: undefined,
      leaseUntilMs: undefined,
      attempts: 0,
      recordedAtMs: nowMs,
      sentAtMs: undefined,
      changedAtMs: nowMs,
      referenceNumber: undefined,
      payment: undefined,
      updatedAtUs: undefined,
      paidBy: undefined,
      failure: undefined,
      ...intent,
    };
    this.rows.set(key, row);
    for (const [oldest, other] of this.rows) {
      if (this.rows.size <= this.#options.maxEntries) break;
      // Open payments are kept, even beyond the limit.
      if (hasEnded(other)) this.rows.delete(oldest);
    }
    return row;
  }

  protected change(key: string, row: Row, change: RowChange): void {
    Object.assign(row, change, { changedAtMs: this.nowMs });
    this.rows.delete(key);
    this.rows.set(key, row);
  }

  protected get nowMs(): number {
    return this.#options.now();
  }

  // Without a client there are no payments that it has sent.
  async list(_kind: ListKind, _page: Page): Promise<readonly Listed[]> {
    return [];
  }

  async stopWaiting(_key: string): Promise<void> {}

  async listSecond(page: Page): Promise<readonly SecondRow[]> {
    return this.page([...this.#seconds.values()], page);
  }

  async listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]> {
    const all = [...this.#failures.values()].filter(
      ({ place }) => referenceNumber === undefined || place.names[1] === referenceNumber,
    );
    // Copies, which their reader may change.
    return this.page(all, page).map(({ place, change }) => ({
      place,
      change: structuredClone(change),
    }));
  }

  protected page<Entry extends { readonly place: Cursor }>(
    all: readonly Entry[],
    { olderThanMs, after, limit }: Page,
  ): readonly Entry[] {
    const untilMs = olderThanMs === 0 ? Number.POSITIVE_INFINITY : this.nowMs - olderThanMs;
    return all
      .filter(({ place }) => place.atMs <= untilMs && !(after && compare(place, after) <= 0))
      .sort((one, other) => compare(one.place, other.place))
      .slice(0, limit);
  }

  async forgetSecond(
    key: string,
    referenceNumber: string,
    isSame: (payment: string) => boolean,
  ): Promise<boolean> {
    return forgetIf(this.#seconds, nameOf(key, referenceNumber), ({ payment }) => isSame(payment));
  }

  async forgetFailed(
    { merchantPaymentReference, referenceNumber, key }: ChangeName,
    attempts: number,
  ): Promise<boolean> {
    const name = nameOf(merchantPaymentReference, referenceNumber, key);
    return forgetIf(this.#failures, name, ({ change }) => change.attempts === attempts);
  }

  async setup(): Promise<void> {}

  async prune(beforeMs: number): Promise<number> {
    for (const { change } of this.#failures.values()) {
      if (+change.lastFailedAt < beforeMs) delete change.rawBody;
    }
    return (
      this.#pruneChanges(beforeMs) +
      deleteFrom(this.#seconds, ({ place }) => place.atMs < beforeMs) +
      deleteFrom(this.rows, (row) => hasEnded(row) && row.changedAtMs < beforeMs)
    );
  }

  #forgetOld(): void {
    const { maxEntries, retentionMs } = this.#options;
    const beforeMs = this.nowMs - retentionMs + 1;
    this.#pruneChanges(beforeMs, maxEntries);
    deleteFrom(this.#failures, ({ change }) => +change.lastFailedAt < beforeMs);
  }

  /** Forgets the changes of payments beyond a number of them, and what last changed before a time. */
  #pruneChanges(beforeMs: number, maxEntries = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (const [name, { keys, changedAtMs }] of this.#processed) {
      if (this.#processed.size <= maxEntries && changedAtMs >= beforeMs) break;
      this.#processed.delete(name);
      count += keys.size;
    }
    return count;
  }
}

/** The store of a receiver that was given none: `memoryStore()`, without what creates payments. */
export function memoryCallbacks(): ManagedStore {
  const limits = { maxEntries: 100_000, retentionMs: 86_400_000, now: Date.now };
  return new ManagedEngine(new MemoryCallbacks(limits));
}

/** Unique, whatever characters the names contain. */
function nameOf(...names: readonly (string | undefined)[]): string {
  return JSON.stringify(names);
}

function hasEnded({ state }: Row): boolean {
  return state !== 'recorded' && state !== 'sending' && state !== 'unresolved';
}

function compare(one: Cursor, other: Cursor): number {
  if (one.atMs !== other.atMs) return one.atMs - other.atMs;
  const at = one.names.findIndex((name, index) => name !== other.names[index]);
  if (at === -1) return 0;
  return (one.names[at] ?? '') < (other.names[at] ?? '') ? -1 : 1;
}

/** Returns whether the entry has changed, and was kept. */
function forgetIf<Entry>(
  entries: Map<string, Entry>,
  name: string,
  isSame: (entry: Entry) => boolean,
): boolean {
  const entry = entries.get(name);
  if (entry === undefined || !isSame(entry)) return entry !== undefined;
  entries.delete(name);
  return false;
}

/** Returns how many there were. */
function deleteFrom<Entry>(entries: Map<string, Entry>, isOld: (entry: Entry) => boolean): number {
  let count = 0;
  for (const [name, entry] of entries) if (isOld(entry)) count += Number(entries.delete(name));
  return count;
}
