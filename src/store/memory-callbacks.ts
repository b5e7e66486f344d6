import type { FailedChange } from './attention.js';
import type { CallbackTables, FailedRow } from './backend.js';
import type { ChangeResult, StoreContext } from './callback-store.js';
import type { Change, ChangeName } from './change.js';
import {
  type ChangeDecision,
  decideChange,
  failureOf,
  type KeptFailure,
  type SeenChange,
  toFailed,
} from './change-steps.js';
import { Loss, WorkContext } from './loss.js';
import { forgetIf, nameOf, pageOf } from './memory-entries.js';
import { warnInProduction } from './memory-warning.js';
import type {
  Cursor,
  Intent,
  Listed,
  ListKind,
  Page,
  RowState,
  SecondRow,
  ServiceRecord,
  StoredForms,
} from './payment-row.js';
import type { OwnedRow, RowChange, StoredRecord } from './steps.js';

export type Row = { -readonly [Field in keyof OwnedRow]: OwnedRow[Field] };

type Second = Omit<SecondRow, 'listedAtMs'> & StoredRecord;

/** The processed changes of a payment. */
interface Processed {
  readonly key: string;
  readonly referenceNumber: string;
  readonly keys: string[];
  readonly newest: string;
  readonly changedAtMs: number;
}

type Failed = Omit<FailedRow, 'change'> & { readonly change: Omit<FailedChange, 'listedAt'> };

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
  readonly #failures = new Map<string, Failed>();
  /** The orders of which a change is being processed. */
  readonly #working = new Set<string>();
  readonly #options: MemoryOptions;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  async process(
    change: Change,
    work: (context: StoreContext<undefined>) => Promise<void>,
  ): Promise<ChangeResult> {
    warnInProduction();
    const { merchantPaymentReference: key } = change;
    this.#forgetOld();
    const decision = decideChange(this.#see(change), change);
    const { action, order } = decision;
    this.settleOrder(key, change.serviceRecord, decision);
    if (action === 'duplicate') return { outcome: action };
    if (this.#working.has(order)) return { outcome: 'busy' };
    if (action === 'parked') return { outcome: action };
    this.#working.add(order);
    try {
      // Memory can't be lost, so this signal never aborts.
      await work(new WorkContext(undefined, decision, new Loss()));
      this.#remember(change, decision.newest);
      return { outcome: 'processed' };
    } catch (error) {
      const kept = failureOf(change, decision, error);
      if (kept !== undefined) this.#keep(change, kept);
      return toFailed(error, kept);
    } finally {
      this.#working.delete(order);
    }
  }

  #see(change: Change): SeenChange {
    const { merchantPaymentReference: key, referenceNumber } = change;
    const processed = this.#processed.get(nameOf(key, referenceNumber));
    const failed =
      this.#failures.size === 0
        ? undefined
        : this.#failures.get(nameOf(key, referenceNumber, change.key))?.change;
    const row = this.rows.get(key);
    return {
      row: row?.order === undefined ? row : { ...row, paidBy: this.paidBy(row) },
      isProcessed: processed?.keys.includes(change.key) === true,
      newest: processed?.newest,
      failure: failed && { attempts: failed.attempts, parked: failed.parked },
      second: this.secondOf(key, change.serviceRecord),
    };
  }

  /** The payment that has paid the order of an attempt. */
  protected paidBy({ order, paidBy }: Row): string | undefined {
    return order === undefined ? paidBy : this.rows.get(JSON.parse(order))?.paidBy;
  }

  /** A payment's record among the second payments; undefined if it is not there. */
  protected secondOf(key: string, { referenceNumber }: ServiceRecord): StoredRecord | undefined {
    return this.#seconds.size === 0 ? undefined : this.#seconds.get(nameOf(key, referenceNumber));
  }

  #remember(change: Change, newest: string): void {
    const { merchantPaymentReference: order, referenceNumber, key } = change;
    const name = nameOf(order, referenceNumber);
    const keys = this.#processed.get(name)?.keys ?? [];
    keys.push(key);
    const changedAtMs = this.nowMs;
    this.#processed.delete(name);
    this.#processed.set(name, {
      key: order,
      referenceNumber,
      keys,
      newest,
      changedAtMs,
    });
    if (this.#failures.size > 0) this.#failures.delete(nameOf(order, referenceNumber, key));
    this.#forgetOld();
  }

  #keep(change: Change, { attempts, parked, error, rawBody }: KeptFailure): void {
    // Names are stored in full here.
    const { merchantPaymentReference, referenceNumber, key } = change;
    const names = [merchantPaymentReference, referenceNumber, key];
    const name = nameOf(...names);
    const known = this.#failures.get(name);
    const [oldest = ''] = this.#failures.keys();
    if (known === undefined && this.#failures.size >= MAX_FAILURES) this.#failures.delete(oldest);
    const place = known?.place ?? { atMs: this.nowMs, names };
    const bytes = rawBody === undefined ? known?.change.rawBody : new Uint8Array(rawBody);
    this.#failures.set(name, {
      place,
      change: {
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
      },
    });
  }

  /** Stores what a callback or a late answer makes of an order. */
  protected settleOrder(
    key: string,
    serviceRecord: ServiceRecord,
    { settled: { change, list, later } }: Pick<ChangeDecision, 'settled'>,
  ): void {
    if (change !== undefined) {
      const row = this.rows.get(key) ?? this.insert(key, { body: '', digest: '' }, 'elsewhere');
      this.change(key, row, change);
      const first = row.order === undefined ? undefined : this.rows.get(JSON.parse(row.order));
      const { paidBy } = change;
      if (first !== undefined && paidBy !== undefined) first.paidBy = paidBy;
    }
    if (list === undefined) return;
    const { referenceNumber = '' } = serviceRecord;
    const { payment = '{}', updatedAtUs } = later ?? serviceRecord;
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
      foundStatus: undefined,
      lookAtMs: undefined,
      updatedAtUs: undefined,
      paidBy: undefined,
      failure: undefined,
      order: undefined,
      replacedBy: undefined,
      ...intent,
    };
    this.rows.set(key, row);
    for (const [oldest] of this.rows) {
      if (this.rows.size <= this.#options.maxEntries) break;
      // What is open, or needs a person, is kept, even beyond the limit.
      this.#forgetOrder(oldest, Number.POSITIVE_INFINITY);
    }
    return row;
  }

  /** Deletes all rows of an order, or none: each must have ended, have changed before a time, and need no person. */
  #forgetOrder(first: string, beforeMs: number): number {
    const keys: string[] = [];
    for (let key: string | undefined = first; key !== undefined; ) {
      const row = this.rows.get(key);
      const isOld = row !== undefined && hasEnded(row) && row.changedAtMs < beforeMs;
      if (!isOld || this.#isListed(key)) return 0;
      if (keys.length === 0 && row.order !== undefined) return 0;
      keys.push(key);
      key = row.replacedBy === undefined ? undefined : JSON.parse(row.replacedBy);
    }
    for (const key of keys) this.rows.delete(key);
    return keys.length;
  }

  protected change(key: string, row: Row, change: RowChange): void {
    Object.assign(row, { changedAtMs: this.nowMs }, change);
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

  async stopWaiting(_key: string, _attempts: number): Promise<boolean> {
    return false;
  }

  async listSecond(page: Page): Promise<readonly SecondRow[]> {
    const listedAtMs = this.nowMs;
    const listed = this.page([...this.#seconds.values()], page);
    return listed.map(({ place, payment = '{}' }) => ({ place, payment, listedAtMs }));
  }

  async listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]> {
    const all = [...this.#failures.values()].filter(
      ({ place }) => referenceNumber === undefined || place.names[1] === referenceNumber,
    );
    const listedAt = new Date(this.nowMs);
    // Copies, which their reader may change.
    return this.page(all, page).map(({ place, change }) => ({
      place,
      change: structuredClone({ ...change, listedAt }),
    }));
  }

  protected page<Entry extends { readonly place: Cursor }>(
    all: readonly Entry[],
    page: Page,
  ): readonly Entry[] {
    return pageOf(all, page, this.nowMs);
  }

  async forgetSecond(
    key: string,
    referenceNumber: string,
    isSame: (payment: string) => boolean,
  ): Promise<boolean> {
    return forgetIf(this.#seconds, nameOf(key, referenceNumber), ({ payment = '{}' }) =>
      isSame(payment),
    );
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
    let count = this.#pruneChanges(beforeMs);
    for (const key of this.rows.keys()) count += this.#forgetOrder(key, beforeMs);
    return count;
  }

  /** Whether a person is needed because of a change or a payment of an order; of one payment, because of a change. */
  #isListed(key: string, referenceNumber?: string): boolean {
    for (const { place } of this.#failures.values()) {
      const isOfPayment = referenceNumber === undefined || place.names[1] === referenceNumber;
      if (place.names[0] === key && isOfPayment) return true;
    }
    if (referenceNumber !== undefined) return false;
    for (const { place } of this.#seconds.values()) if (place.names[0] === key) return true;
    return false;
  }

  #forgetOld(): void {
    const { maxEntries, retentionMs } = this.#options;
    const beforeMs = this.nowMs - retentionMs + 1;
    this.#pruneChanges(beforeMs, maxEntries);
  }

  /** Forgets the changes of payments beyond a number of them, and what last changed before a time. */
  #pruneChanges(beforeMs: number, maxEntries = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (const [name, { key, referenceNumber, keys, changedAtMs }] of this.#processed) {
      if (this.#processed.size <= maxEntries && changedAtMs >= beforeMs) break;
      // A failed change that is replayed must still be seen to be older.
      if (this.#isListed(key, referenceNumber)) continue;
      this.#processed.delete(name);
      count += keys.length;
    }
    return count;
  }
}

function hasEnded({ state }: Row): boolean {
  return state !== 'recorded' && state !== 'sending' && state !== 'unresolved';
}
