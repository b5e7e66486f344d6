import { createMemoryWarning } from './memory-warning.js';
import type { SettleOutcome } from './outbox.js';
import * as steps from './steps.js';
import type {
  Claim,
  Claimed,
  Cursor,
  Decided,
  Decision,
  Finding,
  Intent,
  Listed,
  OutboxStore,
  Page,
  Result,
  SecondPaymentsPage,
  StoredPayment,
  StoredSecondPayment,
} from './store.js';

type Row = { -readonly [Field in keyof steps.OwnedPayment]: steps.OwnedPayment[Field] };

interface SecondRow extends StoredSecondPayment {
  readonly updatedAtUs: number | undefined;
}

const warnInProduction = /* @__PURE__ */ createMemoryWarning(
  'MERCHANT_PAYMENTS_MEMORY_OUTBOX',
  'memoryOutbox keeps payments only in this process: after a restart, and on a second instance, an order can get a second payment. In production use postgresOutbox, mysqlOutbox or sqliteOutbox.',
);

/** A store in this process's memory. Each method is atomic, because it does everything before its first await. */
export class MemoryStore implements OutboxStore {
  readonly needsTransaction = false;
  // Ordered by the last change, the oldest first.
  readonly #rows = new Map<string, Row>();
  readonly #seconds = new Map<string, SecondRow>();
  readonly #now: () => number;
  readonly #maxEntries: number;

  constructor({ now, maxEntries }: { now: () => number; maxEntries: number }) {
    this.#now = now;
    this.#maxEntries = maxEntries;
  }

  async claim({ key, ...wanted }: Claim): Promise<Claimed> {
    const { intent } = wanted;
    const row = this.#rows.get(key) ?? (intent && this.#insert(key, intent));
    if (row === undefined) return { granted: false, stored: undefined };
    const change = steps.claim(row, wanted, this.#now());
    if (change !== undefined) this.#change(key, row, change);
    return { granted: change?.state === 'sending', stored: copy(row) };
  }

  async record(key: string, intent: Intent): Promise<StoredPayment | undefined> {
    const row = this.#rows.get(key);
    if (row === undefined) {
      this.#insert(key, intent);
      return undefined;
    }
    const change = steps.record(row, intent);
    if (change === undefined) return this.#read(row);
    this.#change(key, row, change);
    return undefined;
  }

  async finish(key: string, owner: string, result: Result): Promise<StoredPayment | undefined> {
    const row = this.#rows.get(key);
    if (row?.owner !== owner) return undefined;
    this.#change(key, row, steps.end(result));
    return copy(row);
  }

  async settle(key: string, finding: Finding): Promise<SettleOutcome> {
    const row = this.#rows.get(key);
    const { outcome, change } = steps.settle(row, finding);
    if (row !== undefined && change !== undefined) this.#change(key, row, change);
    if (row !== undefined && outcome === 'second-payment') this.#addSecond(key, row, finding);
    return outcome;
  }

  async resolve(key: string, decision: Decision, attempts: number): Promise<Decided | undefined> {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    const { decided, change } = steps.resolve(row, decision, attempts, this.#now());
    if (change !== undefined) this.#change(key, row, change);
    return decided;
  }

  async read(key: string): Promise<StoredPayment | undefined> {
    const row = this.#rows.get(key);
    return row && this.#read(row);
  }

  async expire(): Promise<number> {
    return [...this.#rows.values()].filter((row) => this.#expireOne(row)).length;
  }

  async listRecorded(page: Page): Promise<readonly Listed[]> {
    return this.#list('recorded', page, ({ changedAtMs }) => changedAtMs);
  }

  async listUnresolved(page: Page): Promise<readonly Listed[]> {
    return this.#list('unresolved', page, ({ sentAtMs }) => sentAtMs ?? 0);
  }

  async listSecondPayments({
    after,
    limit,
  }: SecondPaymentsPage): Promise<readonly StoredSecondPayment[]> {
    return [...this.#seconds.values()]
      .sort(compareSeconds)
      .filter((one) => after === undefined || compareSeconds(one, after) > 0)
      .slice(0, limit);
  }

  async prune(olderThan: Date): Promise<number> {
    const beforeMs = olderThan.getTime();
    for (const [name, { foundAtMs }] of this.#seconds) {
      if (foundAtMs < beforeMs) this.#seconds.delete(name);
    }
    const old = [...this.#rows].filter(([, row]) => isOver(row) && row.changedAtMs < beforeMs);
    for (const [key] of old) this.#rows.delete(key);
    return old.length;
  }

  #insert(key: string, intent: Intent): Row {
    warnInProduction();
    const nowMs = this.#now();
    const row: Row = {
      ...intent,
      state: 'recorded',
      owner: undefined,
      leaseUntilMs: undefined,
      attempts: 0,
      recordedAtMs: nowMs,
      sentAtMs: undefined,
      changedAtMs: nowMs,
      referenceNumber: undefined,
      payment: undefined,
      updatedAtUs: undefined,
      failure: undefined,
    };
    this.#rows.set(key, row);
    this.#forgetOldest();
    return row;
  }

  // Open payments are kept, even beyond the limit.
  #forgetOldest(): void {
    if (this.#rows.size <= this.#maxEntries) return;
    for (const [key, row] of this.#rows) {
      if (!isOver(row)) continue;
      this.#rows.delete(key);
      return;
    }
  }

  #change(key: string, row: Row, change: steps.Change): void {
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

  #read(row: Row): StoredPayment {
    this.#expireOne(row);
    return copy(row);
  }

  #addSecond(key: string, { body }: Row, finding: Finding): void {
    const { referenceNumber = '' } = finding;
    const name = JSON.stringify([key, referenceNumber]);
    const known = this.#seconds.get(name);
    if (known !== undefined && steps.isOlder(finding, known)) return;
    this.#seconds.set(name, {
      key,
      body,
      ...finding,
      referenceNumber,
      payment: finding.payment ?? '{}',
      foundAtMs: known?.foundAtMs ?? this.#now(),
    });
  }

  #list(
    state: string,
    { olderThanMs, after, limit }: Page,
    timeOf: (row: Row) => number,
  ): readonly Listed[] {
    const untilMs = olderThanMs === 0 ? Number.POSITIVE_INFINITY : this.#now() - olderThanMs;
    return [...this.#rows]
      .filter(([, row]) => this.#read(row).state === state && timeOf(row) <= untilMs)
      .map(([key, row]) => ({ place: { atMs: timeOf(row), key }, stored: copy(row) }))
      .sort((one, other) => compare(one.place, other.place))
      .filter(({ place }) => after === undefined || compare(place, after) > 0)
      .slice(0, limit)
      .map(({ place, stored }) => ({ key: place.key, stored }));
  }
}

function isOver({ state }: Row): boolean {
  return state === 'created' || state === 'rejected';
}

function compare(one: Cursor, other: Cursor): number {
  return one.atMs - other.atMs || compareText(one.key, other.key);
}

function compareSeconds(one: StoredSecondPayment, other: StoredSecondPayment): number {
  return (
    one.foundAtMs - other.foundAtMs ||
    compareText(one.key, other.key) ||
    compareText(one.referenceNumber, other.referenceNumber)
  );
}

function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function copy({ owner, leaseUntilMs, updatedAtUs, ...stored }: Row): StoredPayment {
  return stored;
}
