import type { FailedChange } from './attention.js';
import type { CallbackTables, FailedRow } from './backend.js';
import type { ChangeResult, StoreContext } from './callback-store.js';
import type { Change, ChangeName } from './change.js';
import {
  failureOf,
  type Judged,
  judge,
  type KeptFailure,
  type SeenChange,
  toFailed,
} from './change-steps.js';
import { Loss, WorkContext } from './loss.js';
import { Entries, type Entry, type ProcessedChange, pageOf, type Row } from './memory-orders.js';
import { warnInProduction } from './memory-warning.js';
import type {
  Finding,
  Intent,
  Listed,
  ListKind,
  Page,
  RowState,
  SecondRow,
  StoredForms,
} from './payment-row.js';
import type { RowChange, StoredRecord } from './steps.js';

type Second = Omit<SecondRow, 'listedAtMs'> & Pick<StoredRecord, 'updatedAtUs'>;

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
  protected readonly entries = new Entries();
  /** By order and payment. */
  readonly #seconds = new Map<string, Second>();
  /** By order, payment and change, in the order of their first failure. */
  readonly #failures = new Map<string, Failed>();
  readonly #options: MemoryOptions;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  async process(
    change: Change,
    work: (context: StoreContext<undefined>) => Promise<void>,
  ): Promise<ChangeResult> {
    const { merchantPaymentReference: key, finding } = change;
    const judged = judge(this.#see(change), change);
    const { verdict, order } = judged;
    this.settleOrder(key, finding, judged);
    if (verdict === 'duplicate') return { outcome: verdict };
    const first = this.entries.get(order) as Entry;
    if (first.isBusy) return { outcome: 'busy' };
    if (verdict === 'parked') return { outcome: verdict };
    first.isBusy = true;
    try {
      // Memory can't be lost, so this signal never aborts.
      await work(new WorkContext(undefined, judged, new Loss()));
      this.#remember(change, judged.newest);
      return { outcome: 'processed' };
    } catch (error) {
      const kept = failureOf(change, judged, error);
      if (kept !== undefined) this.#keep(change, kept);
      return toFailed(error, kept);
    } finally {
      first.isBusy = false;
    }
  }

  #see(change: Change): SeenChange {
    const { merchantPaymentReference: key, finding } = change;
    const processed = this.#processed(change);
    const failed = this.#failures.size > 0 && this.#failures.get(nameOf(...namesOf(change)));
    const row = this.entries.get(key)?.row;
    return {
      row: row?.order === undefined ? row : { ...row, paidBy: this.paidBy(row) },
      isProcessed: processed.some((one) => one.key === change.key),
      newest: processed.at(-1)?.newest,
      failure: failed ? failed.change : undefined,
      second: this.secondOf(key, finding),
    };
  }

  /** The processed changes of a payment. */
  #processed({ merchantPaymentReference, referenceNumber }: Change): readonly ProcessedChange[] {
    const entry = this.entries.get(merchantPaymentReference);
    if (entry === undefined) return [];
    this.#forgetChanges(entry, this.nowMs - this.#options.retentionMs + 1);
    return entry.changes.filter((one) => one.referenceNumber === referenceNumber);
  }

  /** The payment that has paid the order of an attempt. */
  protected paidBy({ order, paidBy }: Row): string | undefined {
    return order === undefined ? paidBy : this.#firstOf(order).row.paidBy;
  }

  /** @param order as a row has it: all attempts at an order are there, or none */
  #firstOf(order: string): Entry {
    return this.entries.get(JSON.parse(order)) as Entry;
  }

  /** A payment's record among the second payments; undefined if it is not there. */
  protected secondOf(key: string, { referenceNumber }: Finding): StoredRecord | undefined {
    return this.#seconds.size === 0 ? undefined : this.#seconds.get(nameOf(key, referenceNumber));
  }

  #remember(change: Change, newest: string): void {
    const { merchantPaymentReference, referenceNumber, key } = change;
    const entry = this.entries.get(merchantPaymentReference) as Entry;
    entry.changes = [...entry.changes, { referenceNumber, key, newest, atMs: this.nowMs }];
    this.entries.moveToEnd(entry);
    if (this.#failures.size > 0) this.#failures.delete(nameOf(...namesOf(change)));
  }

  #keep(change: Change, { attempts, parked, error, rawBody }: KeptFailure): void {
    const names = namesOf(change);
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
        // Names are stored in full here.
        merchantPaymentReference: change.merchantPaymentReference,
        since: new Date(place.atMs),
        referenceNumber: change.referenceNumber,
        key: change.key,
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
    finding: Finding,
    { settled: { change, list, later } }: Pick<Judged, 'settled'>,
  ): void {
    if (change !== undefined) {
      const entry = this.entries.get(key) ?? this.insert(key, NOT_CREATED, 'elsewhere');
      this.change(entry, change);
      const { paidBy } = change;
      const { order } = entry.row;
      if (order !== undefined && paidBy !== undefined) this.#firstOf(order).row.paidBy = paidBy;
    }
    if (list === undefined) return;
    const { referenceNumber = '' } = finding;
    const { payment = '{}', updatedAtUs } = later ?? finding;
    const name = nameOf(key, referenceNumber);
    const { place } = this.#seconds.get(name) ?? {
      place: { atMs: this.nowMs, names: [key, referenceNumber] },
    };
    this.#seconds.set(name, { place, payment, updatedAtUs });
  }

  protected insert(key: string, { body, digest }: Intent, state: RowState, order?: string): Entry {
    warnInProduction();
    const { maxEntries } = this.#options;
    for (let { oldest } = this.entries; oldest && this.entries.size >= maxEntries; ) {
      const { newer } = oldest;
      // What is open, or needs a person, is kept, even beyond the limit.
      this.#forgetOrder(oldest, Number.POSITIVE_INFINITY);
      oldest = newer;
    }
    const { nowMs } = this;
    return this.entries.add(key, {
      body,
      digest,
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
      order,
      replacedBy: undefined,
    });
  }

  protected change(entry: Entry, change: RowChange): void {
    entry.row.changedAtMs = this.nowMs;
    Object.assign(entry.row, change);
    this.entries.moveToEnd(entry);
  }

  protected get nowMs(): number {
    return this.#options.now();
  }

  /** The attempts at an order, from the first to the latest; none while the latest is about to be stored. */
  protected attemptsAt(first: string): readonly Entry[] {
    const attempts: Entry[] = [];
    for (let key: string | undefined = first; key !== undefined; ) {
      const entry = this.entries.get(key);
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
    const listed = pageOf([...this.#seconds.values()], page, listedAtMs);
    return listed.map(({ place, payment }) => ({ place, payment, listedAtMs }));
  }

  async listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]> {
    const all = [...this.#failures.values()].filter(
      ({ place }) => referenceNumber === undefined || place.names[1] === referenceNumber,
    );
    const { nowMs } = this;
    const listedAt = new Date(nowMs);
    // Copies, which their reader may change.
    return pageOf(all, page, nowMs).map(({ place, change }) => ({
      place,
      change: structuredClone({ ...change, listedAt }),
    }));
  }

  async forgetSecond(
    key: string,
    referenceNumber: string,
    isSame: (payment: string) => boolean,
  ): Promise<boolean> {
    const name = nameOf(key, referenceNumber);
    return forgetIf(this.#seconds, name, ({ payment }) => isSame(payment));
  }

  async forgetFailed(change: ChangeName, attempts: number): Promise<boolean> {
    const name = nameOf(...namesOf(change));
    return forgetIf(this.#failures, name, ({ change }) => change.attempts === attempts);
  }

  async setup(): Promise<void> {}

  async prune(beforeMs: number): Promise<number> {
    for (const { change } of this.#failures.values()) {
      if (+change.lastFailedAt < beforeMs) delete change.rawBody;
    }
    let count = 0;
    for (const entry of this.entries.all()) count += this.#forgetChanges(entry, beforeMs);
    for (const entry of this.entries.all()) count += this.#forgetOrder(entry, beforeMs);
    return count;
  }

  /** Forgets the changes of payments that were last processed before a time. */
  #forgetChanges(entry: Entry, beforeMs: number): number {
    const { key, changes } = entry;
    entry.changes = changes.filter(
      ({ referenceNumber }) =>
        changes.some((one) => one.referenceNumber === referenceNumber && one.atMs >= beforeMs) ||
        // A failed change that is replayed must still be seen to be older.
        this.#isListed(key, referenceNumber),
    );
    return changes.length - entry.changes.length;
  }

  /** Deletes all attempts at an order, or none: each must have ended, have changed before a time, and need no person. */
  #forgetOrder(first: Entry, beforeMs: number): number {
    if (first.isBusy || first.row.order !== undefined) return 0;
    const attempts = this.attemptsAt(first.key);
    const isOver = ({ key, row, changes }: Entry): boolean =>
      hasEnded(row) &&
      row.changedAtMs < beforeMs &&
      changes.every(({ atMs }) => atMs < beforeMs) &&
      !this.#isListed(key);
    if (!attempts.every(isOver)) return 0;
    for (const entry of attempts) this.entries.delete(entry);
    return attempts.length;
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
}

/** Of a payment that the store did not create. */
const NOT_CREATED: Intent = { body: '', digest: '' };

function hasEnded({ state }: Row): boolean {
  return state !== 'recorded' && state !== 'sending' && state !== 'unresolved';
}

const namesOf = (change: ChangeName): readonly string[] => [
  change.merchantPaymentReference,
  change.referenceNumber,
  change.key,
];

/** Unique, whatever characters the names contain. */
const nameOf = (...names: readonly (string | undefined)[]): string => JSON.stringify(names);

/** Returns whether the entry has changed, and was kept. */
function forgetIf<Item>(
  items: Map<string, Item>,
  name: string,
  isSame: (item: Item) => boolean,
): boolean {
  const item = items.get(name);
  if (item === undefined || !isSame(item)) return item !== undefined;
  items.delete(name);
  return false;
}
