import type { Backend, FailedRow } from './backend.js';
import type { ChangeOutcome, StoreContext } from './callback-store.js';
import type { Change, ChangeName } from './change.js';
import { failureOf, isNews, type Judged, judge, refusalOf } from './change-steps.js';
import { Loss } from './loss.js';
import { MemoryChanges } from './memory-changes.js';
import { createMemoryWarning } from './memory-warning.js';
import type {
  Claim,
  Claimed,
  Cursor,
  Decided,
  Decision,
  Finding,
  Intent,
  Listed,
  Page,
  PaymentRow,
  Result,
  RowState,
  SecondRow,
  StoredForms,
} from './payment-row.js';
import { reportParked } from './report-failure.js';
import * as steps from './steps.js';
import { WorkContext } from './work-context.js';

type Row = { -readonly [Field in keyof steps.OwnedRow]: steps.OwnedRow[Field] };

interface MemorySecond extends SecondRow {
  readonly updatedAtUs: number | undefined;
}

const warnInProduction = /* @__PURE__ */ createMemoryWarning(
  'MERCHANT_PAYMENTS_MEMORY_STORE',
  'memoryStore keeps payments and callbacks only in this process: after a restart, and on a second instance, an order can get a second payment, and callbacks are processed again. In production use postgresStore, mysqlStore, sqliteStore or, for callbacks alone, redisStore.',
);

interface MemoryBackendOptions {
  readonly now: () => number;
  readonly maxEntries: number;
  readonly retentionMs: number;
  readonly keepBodies: boolean;
}

/** A store in this process's memory. Each method is atomic, because it does everything before its first await. */
export class MemoryBackend implements Backend<undefined> {
  readonly needsTransaction = false;
  readonly forms: StoredForms = { toName: (text) => text, toDigest: (text) => text };
  // Ordered by the last change, the oldest first.
  readonly #rows = new Map<string, Row>();
  readonly #seconds = new Map<string, MemorySecond>();
  readonly #changes = new MemoryChanges();
  /** The orders of which a change is being processed. */
  readonly #working = new Set<string>();
  readonly #options: MemoryBackendOptions;
  readonly #now: () => number;

  constructor(options: MemoryBackendOptions) {
    this.#options = options;
    this.#now = options.now;
  }

  async process(
    change: Change,
    work: (context: StoreContext<undefined>) => Promise<void>,
  ): Promise<ChangeOutcome> {
    warnInProduction();
    const { merchantPaymentReference: key } = change;
    this.#forgetOld();
    const judged = this.#judge(change);
    const { verdict } = judged;
    if (isNews(judged) || verdict === 'run') this.#settle(key, change.finding, judged);
    if (verdict === 'duplicate' || verdict === 'stale') return verdict;
    if (this.#working.has(key)) return 'busy';
    if (verdict !== 'run') throw this.#fail(change, judged, refusalOf(verdict));
    this.#working.add(key);
    try {
      // Memory can't be lost, so this signal never aborts.
      await work(new WorkContext(undefined, judged, new Loss()));
      this.#changes.remember(change, judged.watermarkUs, this.#now());
      this.#forgetOld();
      return 'processed';
    } catch (error) {
      throw this.#fail(change, judged, error);
    } finally {
      this.#working.delete(key);
    }
  }

  #judge(change: Change): Judged {
    const second = this.#seconds.get(secondName(change.merchantPaymentReference, change.finding));
    return judge(
      {
        ...this.#changes.see(change),
        row: this.#rows.get(change.merchantPaymentReference),
        secondUpdatedAtUs: second && (second.updatedAtUs ?? 0),
      },
      change,
    );
  }

  #fail(change: Change, judged: Judged, error: unknown): unknown {
    const kept = failureOf(change, judged, error, this.#options.keepBodies);
    if (kept !== undefined) this.#changes.keep(change, kept, this.#now());
    reportParked(change, kept);
    return error;
  }

  #settle(
    key: string,
    finding: Finding,
    { settled, secondUpdatedAtUs }: Pick<Judged, 'settled' | 'secondUpdatedAtUs'>,
  ): void {
    const row = this.#rows.get(key) ?? this.#insert(key, { body: '', digest: '' }, 'elsewhere');
    if (settled.change !== undefined) this.#change(key, row, settled.change);
    if (settled.outcome !== 'second-payment') return;
    const isNew = secondUpdatedAtUs === undefined;
    if (isNew || (finding.updatedAtUs ?? 0) >= secondUpdatedAtUs) this.#addSecond(key, finding);
  }

  async claim({ key, ...wanted }: Claim): Promise<Claimed> {
    const { intent } = wanted;
    const row = this.#rows.get(key) ?? (intent && this.#insert(key, intent, 'recorded'));
    if (row === undefined) return { granted: false, stored: undefined };
    const change = steps.claim(row, wanted, this.#now());
    if (change !== undefined) this.#change(key, row, change);
    return { granted: change?.state === 'sending', stored: this.#read(row) };
  }

  async record(key: string, intent: Intent): Promise<PaymentRow | undefined> {
    const row = this.#rows.get(key);
    if (row === undefined) {
      this.#insert(key, intent, 'recorded');
      return undefined;
    }
    const change = steps.record(row, intent, this.#now());
    if (change === undefined) return this.#read(row);
    this.#change(key, row, change);
    return undefined;
  }

  async finish(key: string, owner: string, result: Result): Promise<PaymentRow | undefined> {
    const row = this.#rows.get(key);
    if (row?.owner !== owner) return undefined;
    this.#change(key, row, steps.end(result));
    return this.#read(row);
  }

  async settle(key: string, finding: Finding): Promise<void> {
    const second = this.#seconds.get(secondName(key, finding));
    const known = { isPaid: false, isListed: second !== undefined };
    const settled = steps.settle(this.#rows.get(key), finding, known);
    this.#settle(key, finding, { settled, secondUpdatedAtUs: second && (second.updatedAtUs ?? 0) });
  }

  async resolve(key: string, decision: Decision, attempts: number): Promise<Decided> {
    const row = this.#rows.get(key);
    if (row === undefined) return { outcome: 'unknown' };
    const { decided, change } = steps.resolve(row, decision, attempts, this.#now());
    if (change !== undefined) this.#change(key, row, change);
    return decided;
  }

  async read(key: string): Promise<PaymentRow | undefined> {
    const row = this.#rows.get(key);
    return row && this.#read(row);
  }

  async expire(): Promise<number> {
    return [...this.#rows.values()].filter((row) => this.#expireOne(row)).length;
  }

  async listRecorded(page: Page): Promise<readonly Listed[]> {
    return this.#list(page, 'changedAtMs', ({ state }) => state === 'recorded');
  }

  async listUnresolved(page: Page, isOver: boolean): Promise<readonly Listed[]> {
    const nowMs = this.#now();
    return this.#list(
      page,
      'sentAtMs',
      ({ state, leaseUntilMs = 0 }) => state === 'unresolved' && (!isOver || leaseUntilMs <= nowMs),
    );
  }

  async listUnheard(page: Page): Promise<readonly Listed[]> {
    return this.#list(page, 'changedAtMs', ({ state }) => state === 'unheard');
  }

  async listSecond(page: Page): Promise<readonly SecondRow[]> {
    return this.#page([...this.#seconds.values()], page);
  }

  async listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]> {
    return this.#page(this.#changes.list(referenceNumber), page);
  }

  async stopWaiting(key: string): Promise<void> {
    const row = this.#rows.get(key);
    if (row?.state === 'unheard') this.#change(key, row, { state: 'created' });
  }

  async forgetSecond(
    key: string,
    referenceNumber: string,
    isSame: (payment: string) => boolean,
  ): Promise<boolean> {
    const name = secondName(key, { referenceNumber });
    const second = this.#seconds.get(name);
    if (second === undefined) return false;
    if (!isSame(second.payment)) return true;
    this.#seconds.delete(name);
    return false;
  }

  async forgetFailed(name: ChangeName, attempts: number): Promise<boolean> {
    return this.#changes.forget(name, attempts);
  }

  async setup(): Promise<void> {}

  async prune(beforeMs: number): Promise<number> {
    let count = this.#changes.prune(beforeMs);
    for (const [name, { place }] of this.#seconds) {
      if (place.atMs < beforeMs) count += Number(this.#seconds.delete(name));
    }
    for (const [key, row] of this.#rows) {
      if (isOver(row) && row.changedAtMs < beforeMs) count += Number(this.#rows.delete(key));
    }
    return count;
  }

  #forgetOld(): void {
    const { maxEntries, retentionMs } = this.#options;
    this.#changes.prune(this.#now() - retentionMs + 1, maxEntries);
  }

  #insert(key: string, intent: Intent, state: RowState): Row {
    warnInProduction();
    const nowMs = this.#now();
    const row: Row = {
      ...intent,
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
    };
    this.#rows.set(key, row);
    this.#forgetOldest();
    return row;
  }

  // Open payments are kept, even beyond the limit.
  #forgetOldest(): void {
    if (this.#rows.size <= this.#options.maxEntries) return;
    for (const [key, row] of this.#rows) {
      if (!isOver(row)) continue;
      this.#rows.delete(key);
      return;
    }
  }

  #change(key: string, row: Row, change: steps.RowChange): void {
    Object.assign(row, change, { changedAtMs: this.#now() });
    this.#rows.delete(key);
    this.#rows.set(key, row);
  }

  /** Returns whether the lease has expired. */
  #expireOne(row: Row): boolean {
    const nowMs = this.#now();
    const change = steps.expire(row, nowMs);
    if (change !== undefined) Object.assign(row, change, { changedAtMs: nowMs });
    return change !== undefined;
  }

  #read(row: Row): PaymentRow | undefined {
    this.#expireOne(row);
    return steps.visible(row, this.#now());
  }

  #addSecond(key: string, finding: Finding): void {
    const { referenceNumber = '', payment = '{}', updatedAtUs } = finding;
    const name = secondName(key, finding);
    const place = this.#seconds.get(name)?.place ?? {
      atMs: this.#now(),
      names: [key, referenceNumber],
    };
    this.#seconds.set(name, { place, payment, updatedAtUs });
  }

  #list(
    page: Page,
    time: 'changedAtMs' | 'sentAtMs',
    isListed: (row: Row) => boolean,
  ): readonly Listed[] {
    const all = [...this.#rows].flatMap(([key, row]) => {
      const stored = this.#read(row);
      if (stored === undefined || !isListed(row)) return [];
      return [{ key, stored, place: { atMs: row[time] ?? 0, names: [key] } }];
    });
    return this.#page(all, page);
  }

  #page<Entry extends { readonly place: Cursor }>(
    all: readonly Entry[],
    { olderThanMs, after, limit }: Page,
  ): readonly Entry[] {
    const untilMs = olderThanMs === 0 ? Number.POSITIVE_INFINITY : this.#now() - olderThanMs;
    return [...all]
      .filter(({ place }) => place.atMs <= untilMs)
      .sort((one, other) => compare(one.place, other.place))
      .filter(({ place }) => after === undefined || compare(place, after) > 0)
      .slice(0, limit);
  }
}

function isOver({ state }: Row): boolean {
  return state !== 'recorded' && state !== 'sending' && state !== 'unresolved';
}

function secondName(key: string, { referenceNumber }: Pick<Finding, 'referenceNumber'>): string {
  return JSON.stringify([key, referenceNumber]);
}

function compare(one: Cursor, other: Cursor): number {
  if (one.atMs !== other.atMs) return one.atMs - other.atMs;
  const at = one.names.findIndex((name, index) => name !== other.names[index]);
  if (at === -1) return 0;
  return (one.names[at] ?? '') < (other.names[at] ?? '') ? -1 : 1;
}
