import { createMemoryWarning } from '../storage/memory-warning.js';
import type { SettleOutcome } from './outbox.js';
import type {
  Claim,
  Claimed,
  Cursor,
  Finding,
  Intent,
  Listed,
  OutboxStore,
  Page,
  Result,
  StoredPayment,
  StoredSecondPayment,
} from './store.js';

type Row = { -readonly [Field in keyof StoredPayment]: StoredPayment[Field] };

interface OwnedRow extends Row {
  owner: string | undefined;
  /** In epoch milliseconds. */
  leaseUntilMs: number;
  updatedAtUs: number | undefined;
}

interface SecondRow extends StoredSecondPayment {
  readonly updatedAtUs: number | undefined;
}

const warnInProduction = /* @__PURE__ */ createMemoryWarning(
  'MERCHANT_PAYMENTS_MEMORY_OUTBOX',
  'memoryOutbox keeps payments in this process alone: after a restart, and on a second instance, an order can get a second payment. In production use postgresOutbox, mysqlOutbox or sqliteOutbox.',
);

/** A store in this process's memory. What is done before the first await of a method is one step. */
export class MemoryStore implements OutboxStore {
  // In the order of their last change, the oldest first.
  readonly #rows = new Map<string, OwnedRow>();
  readonly #seconds = new Map<string, SecondRow>();
  readonly #now: () => number;
  readonly #maxEntries: number;

  constructor({ now, maxEntries }: { now: () => number; maxEntries: number }) {
    this.#now = now;
    this.#maxEntries = maxEntries;
  }

  async claim({ key, intent, owner, allowsRejected, leaseMs }: Claim): Promise<Claimed> {
    const found = this.#rows.get(key);
    if (found === undefined && intent === undefined) return { granted: false, stored: undefined };
    if (found !== undefined) this.#expireOne(found);
    const row = found ?? this.#insert(key, intent as Intent);
    if (!mayClaim(row, { intent, allowsRejected })) return { granted: false, stored: copy(row) };
    const nowMs = this.#now();
    this.#change(key, row, {
      ...intent,
      state: 'sending',
      owner,
      leaseUntilMs: nowMs + leaseMs,
      attempts: row.attempts + 1,
      sentAtMs: nowMs,
      failure: undefined,
    });
    return { granted: true, stored: copy(row) };
  }

  async record(key: string, intent: Intent): Promise<StoredPayment | undefined> {
    const found = this.#rows.get(key);
    if (found === undefined) this.#insert(key, intent);
    else if (found.state === 'rejected') this.#change(key, found, { ...intent, state: 'recorded' });
    else return this.#read(found);
    return undefined;
  }

  async finish(key: string, owner: string, result: Result): Promise<StoredPayment | undefined> {
    const row = this.#rows.get(key);
    if (row?.owner !== owner) return undefined;
    this.#end(key, row, result);
    return copy(row);
  }

  async settle(key: string, finding: Finding): Promise<SettleOutcome> {
    const row = this.#rows.get(key);
    if (row === undefined) return 'not-ours';
    const { referenceNumber } = finding;
    if (row.state !== 'created') {
      this.#end(key, row, { state: 'created', finding });
      return 'settled';
    }
    if (referenceNumber === undefined) return 'known';
    if (row.referenceNumber === undefined) {
      this.#change(key, row, finding);
      return 'settled';
    }
    if (row.referenceNumber !== referenceNumber) {
      this.#addSecond(key, row, { ...finding, referenceNumber });
      return 'second-payment';
    }
    if (!isOlder(finding, row)) this.#change(key, row, finding);
    return 'known';
  }

  async resolve(key: string, result: Result): Promise<boolean> {
    const row = this.#rows.get(key);
    if (row === undefined || this.#read(row).state !== 'unresolved') return false;
    this.#end(key, row, result);
    return true;
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
  }: {
    after: StoredSecondPayment | undefined;
    limit: number;
  }): Promise<readonly StoredSecondPayment[]> {
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

  #insert(key: string, intent: Intent): OwnedRow {
    warnInProduction();
    const nowMs = this.#now();
    const row: OwnedRow = {
      ...intent,
      state: 'recorded',
      owner: undefined,
      leaseUntilMs: 0,
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

  // What is not over is kept, however much there is of it.
  #forgetOldest(): void {
    if (this.#rows.size <= this.#maxEntries) return;
    for (const [key, row] of this.#rows) {
      if (!isOver(row)) continue;
      this.#rows.delete(key);
      return;
    }
  }

  #change(key: string, row: OwnedRow, change: Partial<OwnedRow>): void {
    Object.assign(row, change, { changedAtMs: this.#now() });
    this.#rows.delete(key);
    this.#rows.set(key, row);
  }

  #end(key: string, row: OwnedRow, result: Result): void {
    const { state, failure } = result;
    const finding = result.state === 'created' ? result.finding : undefined;
    this.#change(key, row, { ...finding, state, failure, owner: undefined });
  }

  /** Whether its lease has run out. */
  #expireOne(row: OwnedRow): boolean {
    if (row.state !== 'sending' || row.leaseUntilMs > this.#now()) return false;
    row.state = 'unresolved';
    row.changedAtMs = this.#now();
    return true;
  }

  #read(row: OwnedRow): StoredPayment {
    this.#expireOne(row);
    return copy(row);
  }

  #addSecond(key: string, { body }: Row, finding: Finding & { referenceNumber: string }): void {
    const name = JSON.stringify([key, finding.referenceNumber]);
    const known = this.#seconds.get(name);
    if (known !== undefined && isOlder(finding, known)) return;
    this.#seconds.set(name, {
      key,
      body,
      ...finding,
      payment: finding.payment ?? '{}',
      foundAtMs: known?.foundAtMs ?? this.#now(),
    });
  }

  #list(
    state: string,
    { olderThanMs, after, limit }: Page,
    timeOf: (row: Row) => number,
  ): readonly Listed[] {
    const untilMs = this.#now() - olderThanMs;
    return [...this.#rows]
      .filter(([, row]) => this.#read(row).state === state && timeOf(row) <= untilMs)
      .map(([key, row]) => ({ place: { atMs: timeOf(row), key }, stored: copy(row) }))
      .sort((one, other) => compare(one.place, other.place))
      .filter(({ place }) => after === undefined || compare(place, after) > 0)
      .slice(0, limit)
      .map(({ place, stored }) => ({ key: place.key, stored }));
  }
}

function mayClaim(
  { state, digest }: Row,
  { intent, allowsRejected }: Pick<Claim, 'intent' | 'allowsRejected'>,
): boolean {
  if (state === 'rejected') return allowsRejected;
  return state === 'recorded' && (intent === undefined || intent.digest === digest);
}

function isOver({ state }: Row): boolean {
  return state === 'created' || state === 'rejected';
}

type Dated = Pick<Finding, 'updatedAtUs'>;

function isOlder(finding: Dated, known: Dated): boolean {
  return (finding.updatedAtUs ?? 0) < (known.updatedAtUs ?? 0);
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

function copy({ owner, leaseUntilMs, updatedAtUs, ...stored }: OwnedRow): StoredPayment {
  return stored;
}
