import type { FailedChange } from './attention.js';
import type { CallbackTables, FailedRow } from './backend.js';
import type { ChangeResult, ManagedStore, StoreContext } from './callback-store.js';
import type { Change, ChangeName, PaymentName } from './change.js';
import {
  decideChange,
  failureOf,
  type KeptFailure,
  type SeenChange,
  toFailed,
} from './change-steps.js';
import { Loss, WorkContext } from './loss.js';
import { ManagedEngine } from './managed-engine.js';
import {
  type Entry,
  findNamed,
  type ProcessedChange,
  pageOf,
  removeIf,
  type Second,
} from './memory-entries.js';
import { warnInProduction } from './memory-warning.js';
import {
  ENDED,
  type Intent,
  type Listed,
  type ListKind,
  type Page,
  type RowState,
  type SecondRow,
  type ServiceRecord,
  type StoredForms,
} from './payment-row.js';
import { newRow, type RowChange, type Settled, type StoredRecord } from './steps.js';

const MAX_FAILURES = 1_000;

/** Of a payment that the store did not create. */
const NOT_CREATED: Intent = { body: '', digest: '' };

export interface MemoryOptions {
  readonly now: () => number;
  readonly maxEntries: number;
}

/** Callbacks in this process's memory. Each method is atomic, because it does everything before its first await. */
export class MemoryCallbacks implements CallbackTables<undefined> {
  readonly forms: StoredForms = { toName: (text) => text, toDigest: (text) => text };
  /** By the merchant's references, in the order of their last changes. */
  protected readonly entries = new Map<string, Entry>();
  #newest: Entry | undefined;
  readonly #seconds: Second[] = [];
  /** In the order of their first failure. Their places have the names of the order, the payment and the change. */
  readonly #failures: FailedRow[] = [];
  readonly #options: MemoryOptions;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  async process(
    change: Change,
    work: (context: StoreContext<undefined>) => Promise<void>,
  ): Promise<ChangeResult> {
    const { merchantPaymentReference: key, serviceRecord } = change;
    const decision = decideChange(this.#see(change), change);
    const { action } = decision;
    const entry = this.settleOrder(key, serviceRecord, decision.settled);
    if (action === 'duplicate') return { outcome: action };
    const first = this.firstOf(entry);
    if (first.isBusy) return { outcome: 'busy' };
    if (action === 'parked') return { outcome: action };
    first.isBusy = true;
    try {
      // Memory can't be lost, so this signal never aborts.
      await work(new WorkContext(undefined, decision, new Loss()));
      this.#remember(entry, change, decision.newest);
      return { outcome: 'processed' };
    } catch (error) {
      const kept = failureOf(change, decision, error);
      if (kept !== undefined) this.#keep(change, kept);
      return toFailed(error, kept);
    } finally {
      first.isBusy = false;
    }
  }

  #see(change: Change): SeenChange {
    const { merchantPaymentReference, referenceNumber, key, serviceRecord } = change;
    const entry = this.entries.get(merchantPaymentReference);
    const processed = entry?.changes.filter((one) => one.referenceNumber === referenceNumber);
    return {
      row:
        entry?.row.order === undefined
          ? entry?.row
          : { ...entry.row, paidBy: this.firstOf(entry).row.paidBy },
      isProcessed: processed?.some((one) => one.key === key) === true,
      newest: processed?.at(-1)?.newest,
      failure: findNamed(this.#failures, ...namesOf(change))?.item,
      second: this.secondOf(merchantPaymentReference, serviceRecord),
    };
  }

  /** The first attempt at the order of an attempt: all of them are stored, or none. */
  protected firstOf(entry: Entry): Entry {
    const { order } = entry.row;
    return order === undefined ? entry : (this.entries.get(JSON.parse(order)) as Entry);
  }

  /** A payment's record among the second payments; undefined if it is not there. */
  protected secondOf(key: string, { referenceNumber }: ServiceRecord): StoredRecord | undefined {
    return findNamed(this.#seconds, key, referenceNumber);
  }

  #remember(entry: Entry, change: Change, newest: string): void {
    const { referenceNumber, key } = change;
    entry.changes = [...entry.changes, { referenceNumber, key, newest, atMs: this.nowMs }];
    this.#moveToEnd(entry);
    removeIf(this.#failures, namesOf(change), () => true);
  }

  #keep(change: Change, { attempts, parked, error, rawBody }: KeptFailure): void {
    const { merchantPaymentReference, referenceNumber, key } = change;
    const lastFailedAt = new Date(this.nowMs);
    const names = namesOf(change);
    const known = findNamed(this.#failures, ...names);
    const place = known?.place ?? { atMs: +lastFailedAt, names };
    const bytes = rawBody === undefined ? known?.item.rawBody : new Uint8Array(rawBody);
    const item: FailedChange = {
      kind: 'failed-change',
      // Names are stored in full here.
      merchantPaymentReference,
      since: new Date(place.atMs),
      listedAt: lastFailedAt,
      referenceNumber,
      key,
      occurredAt: new Date(Math.floor(Number(change.occurredAtUs) / 1000)),
      attempts,
      lastFailedAt,
      parked,
      error: JSON.parse(error),
      ...(bytes !== undefined && { rawBody: bytes }),
    };
    if (known === undefined) this.#failures.push({ place, item });
    else Object.assign(known, { item });
    if (this.#failures.length > MAX_FAILURES) this.#failures.shift();
  }

  /** Stores what a callback or a late answer makes of an order. */
  protected settleOrder(
    key: string,
    serviceRecord: ServiceRecord,
    { change, list, later }: Settled,
  ): Entry {
    const entry = this.entries.get(key) ?? this.insert(key, NOT_CREATED, 'elsewhere');
    this.change(entry, change);
    const paidBy = change?.paidBy;
    if (paidBy !== undefined) this.firstOf(entry).row.paidBy = paidBy;
    if (list !== undefined) {
      const { referenceNumber = '' } = serviceRecord;
      const { payment = '{}', updatedAtUs } = later ?? serviceRecord;
      const known = findNamed(this.#seconds, key, referenceNumber);
      const place = known?.place ?? { atMs: this.nowMs, names: [key, referenceNumber] };
      if (known !== undefined) Object.assign(known, { payment, updatedAtUs });
      else this.#seconds.push({ place, payment, updatedAtUs });
    }
    return entry;
  }

  protected insert(key: string, intent: Intent, state: RowState, order?: string): Entry {
    // Not for a further attempt, whose order would be forgotten: the next order makes room.
    if (order === undefined && this.entries.size >= this.#options.maxEntries) this.#makeRoom();
    warnInProduction();
    const row = newRow(intent, { state, order, nowMs: this.nowMs });
    const entry: Entry = { key, row, changes: [], isBusy: false };
    this.entries.set(key, entry);
    this.#newest = entry;
    return entry;
  }

  /** Forgets the oldest orders, many at once: whoever looks for them passes the places of all entries that were moved. */
  #makeRoom(): void {
    let left = Math.ceil(this.#options.maxEntries / 16);
    for (const entry of this.entries.values()) {
      // What is open, or needs a person, is kept, even beyond the limit.
      left -= this.#forgetOrder(entry, Number.POSITIVE_INFINITY);
      if (left <= 0) return;
    }
  }

  protected change(entry: Entry | undefined, change: RowChange | undefined): void {
    if (entry === undefined || change === undefined) return;
    entry.row.changedAtMs = this.nowMs;
    Object.assign(entry.row, change);
    this.#moveToEnd(entry);
  }

  #moveToEnd(entry: Entry): void {
    if (entry === this.#newest) return;
    this.#newest = entry;
    this.entries.delete(entry.key);
    this.entries.set(entry.key, entry);
  }

  protected get nowMs(): number {
    return this.#options.now();
  }

  /** The attempts at an order, from the first to the latest; none while the latest is about to be stored. */
  protected attemptsAt(first: string): readonly Entry[] {
    const attempts: Entry[] = [];
    for (let key: string | undefined = first; key !== undefined; ) {
      const entry: Entry | undefined = this.entries.get(key);
      if (entry === undefined) return [];
      attempts.push(entry);
      key = entry.row.replacedBy && JSON.parse(entry.row.replacedBy);
    }
    return attempts;
  }

  // Without a client there are no payments that it has sent.
  async list(_kind: ListKind, _page: Page): Promise<readonly Listed[]> {
    return [];
  }

  async stopWaiting(_key: string, _attempts: number): Promise<boolean> {
    return false;
  }

  async listSecond(page: Page): Promise<readonly SecondRow[]> {
    const listedAtMs = this.nowMs;
    const listed = pageOf(this.#seconds, page, listedAtMs);
    return listed.map(({ place, payment }) => ({ place, payment, listedAtMs }));
  }

  async listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]> {
    const { nowMs } = this;
    const all = this.#failures.filter(
      ({ place }) => referenceNumber === undefined || place.names[1] === referenceNumber,
    );
    // Copies, which their reader may change.
    return pageOf(all, page, nowMs).map(({ place, item }) => ({
      place,
      item: structuredClone({ ...item, listedAt: new Date(nowMs) }),
    }));
  }

  async forgetSecond(name: PaymentName, isSame: (payment: string) => boolean): Promise<boolean> {
    const names = [name.merchantPaymentReference, name.referenceNumber];
    return removeIf(this.#seconds, names, ({ payment }) => isSame(payment));
  }

  async forgetFailed(name: ChangeName, attempts: number): Promise<boolean> {
    return removeIf(this.#failures, namesOf(name), ({ item }) => item.attempts === attempts);
  }

  async setup(): Promise<void> {}

  async prune(beforeMs: number): Promise<number> {
    for (const { item } of this.#failures) {
      if (+item.lastFailedAt < beforeMs) delete item.rawBody;
    }
    let count = 0;
    for (const entry of this.entries.values()) count += this.#forgetChanges(entry, beforeMs);
    for (const entry of this.entries.values()) count += this.#forgetOrder(entry, beforeMs);
    return count;
  }

  /** Forgets the changes of payments of which the last was processed before a time. */
  #forgetChanges(entry: Entry, beforeMs: number): number {
    const { key, changes } = entry;
    const isKept = ({ referenceNumber }: ProcessedChange): boolean => {
      const isOfPayment = (one: ProcessedChange) => one.referenceNumber === referenceNumber;
      const last = changes.findLast(isOfPayment) as ProcessedChange;
      // A failed change that is replayed must still be seen to be older.
      return last.atMs >= beforeMs || findNamed(this.#failures, key, referenceNumber) !== undefined;
    };
    entry.changes = changes.filter(isKept);
    return changes.length - entry.changes.length;
  }

  /** Deletes all attempts at an order, or none: each must have ended, have changed before a time, and need no person. */
  #forgetOrder(first: Entry, beforeMs: number): number {
    if (first.isBusy || first.row.order !== undefined) return 0;
    const attempts = this.attemptsAt(first.key);
    const isOver = ({ key, row, changes }: Entry): boolean =>
      ENDED.includes(row.state) &&
      row.changedAtMs < beforeMs &&
      changes.every(({ atMs }) => atMs < beforeMs) &&
      !(findNamed(this.#failures, key) || findNamed(this.#seconds, key));
    if (!attempts.every(isOver)) return 0;
    for (const { key } of attempts) this.entries.delete(key);
    return attempts.length;
  }
}

const namesOf = (change: ChangeName): readonly string[] => [
  change.merchantPaymentReference,
  change.referenceNumber,
  change.key,
];

/** The store of a receiver that was given none: `memoryStore()`, without what creates payments. */
export function memoryCallbacks(): ManagedStore {
  const limits = { maxEntries: 100_000, now: Date.now };
  // It has no payments that it has sent.
  return new ManagedEngine(new MemoryCallbacks(limits), 0);
}
