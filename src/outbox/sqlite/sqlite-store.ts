import { InvalidOptionError, MerchantPaymentsError, OutboxError } from '../../errors.js';
import {
  isOutsideTransaction,
  pause,
  readValue,
  runInTransaction,
  type SqliteDatabase,
  type SqliteStatement,
  waitWhileLocked,
  whenFree,
} from '../../storage/sqlite/database.js';
import type { SettleOutcome } from '../outbox.js';
import { parseRow, parseRows, parseSecondPayments } from '../rows.js';
import type {
  Claim,
  Claimed,
  Finding,
  Intent,
  Listed,
  OutboxStore,
  Page,
  Result,
  SecondPaymentsPage,
  StoredPayment,
  StoredSecondPayment,
} from '../store.js';
import { type Statement, Statements } from './statements.js';

const PATIENCE_MS = 5_000;
/** How many payments are deleted at a time: deletion blocks the process. */
const PRUNED_AT_ONCE = 1_000;

/** The tables of an outbox in SQLite. No step leaves a transaction open. */
export class SqliteStore implements OutboxStore<SqliteDatabase> {
  // There is only one connection, so its open transaction is always the one used.
  readonly needsTransaction = false;
  readonly #database: SqliteDatabase;
  readonly #statements: Statements;
  readonly #now: () => number;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase, prefix: string, now: () => number) {
    this.#database = database;
    this.#statements = new Statements(prefix);
    this.#now = now;
  }

  createTables(): void {
    // Several processes may start at the same time.
    try {
      waitWhileLocked(() => this.#database.exec(this.#statements.tables));
    } catch (error) {
      throw explain(error);
    }
  }

  claim(claim: Claim): Promise<Claimed> {
    return this.#write(() => {
      const json = this.#ask(this.#statements.claim(claim, this.#now()));
      if (json === undefined) return { granted: false, stored: this.#read(claim.key) };
      const { stored } = parseRow(json);
      return { granted: stored.state === 'sending', stored };
    });
  }

  async record(
    key: string,
    intent: Intent,
    tx: SqliteDatabase | undefined,
  ): Promise<StoredPayment | undefined> {
    const record = () => this.#record(key, intent);
    return tx === undefined ? this.#write(record) : this.#within(tx, record);
  }

  /** Like `record`, but synchronous. */
  recordNow(key: string, intent: Intent): StoredPayment | undefined {
    if (isOutsideTransaction(this.#database)) {
      throw new InvalidOptionError(
        'database',
        'database must have your transaction open when recordNow is called; received one without a transaction',
      );
    }
    return this.#within(this.#database, () => this.#record(key, intent));
  }

  finish(key: string, owner: string, result: Result): Promise<StoredPayment | undefined> {
    return this.#write(() => {
      const json = this.#ask(this.#statements.finish(key, owner, result, this.#now()));
      return json === undefined ? undefined : parseRow(json).stored;
    });
  }

  async settle(
    key: string,
    finding: Finding,
    tx: SqliteDatabase | undefined,
  ): Promise<SettleOutcome> {
    if (tx !== undefined) return this.#within(tx, () => this.#settle(key, finding));
    return this.#write(() => this.#settle(key, finding));
  }

  resolve(key: string, result: Result): Promise<boolean> {
    const statement = () => this.#statements.resolve(key, result, this.#now());
    return this.#write(() => this.#count(statement()) > 0);
  }

  read(key: string): Promise<StoredPayment | undefined> {
    return this.#whenFree(() => this.#read(key));
  }

  expire(): Promise<number> {
    return this.#whenFree(() => this.#count(this.#statements.expire(this.#now())));
  }

  listRecorded(page: Page): Promise<readonly Listed[]> {
    return this.#whenFree(() => this.#list(this.#statements.listRecorded(page, this.#now())));
  }

  listUnresolved(page: Page): Promise<readonly Listed[]> {
    return this.#whenFree(() => this.#list(this.#statements.listUnresolved(page, this.#now())));
  }

  listSecondPayments({
    after,
    limit,
  }: SecondPaymentsPage): Promise<readonly StoredSecondPayment[]> {
    const statement = this.#statements.listSecondPayments(after, limit);
    return this.#whenFree(() => parseSecondPayments(this.#ask(statement) as string));
  }

  async prune(olderThan: Date): Promise<number> {
    const beforeMs = olderThan.getTime();
    await this.#whenFree(() => this.#count(this.#statements.pruneSeconds(beforeMs)));
    for (let total = 0; ; ) {
      const statement = this.#statements.prune(beforeMs, PRUNED_AT_ONCE);
      const deleted = await this.#whenFree(() => this.#count(statement));
      total += deleted;
      if (deleted < PRUNED_AT_ONCE) return total;
      await pause();
    }
  }

  #record(key: string, intent: Intent): StoredPayment | undefined {
    const recorded = this.#count(this.#statements.record(key, intent, this.#now()));
    return recorded === 0 ? this.#read(key) : undefined;
  }

  #settle(key: string, finding: Finding): SettleOutcome {
    const found = this.#ask(this.#statements.outcomeOf(key, finding));
    if (found === undefined) return 'not-ours';
    if (found === 'as it is') return 'known';
    const statement =
      found === 'second-payment'
        ? this.#statements.addSecond(key, finding, this.#now())
        : this.#statements.settle(key, finding, this.#now());
    this.#count(statement);
    return found as SettleOutcome;
  }

  #read(key: string): StoredPayment | undefined {
    const json = this.#ask(this.#statements.read(key, this.#now()));
    return json === undefined ? undefined : parseRow(json).stored;
  }

  #list(statement: Statement): readonly Listed[] {
    return parseRows(this.#ask(statement) as string);
  }

  /**
   * Returns the only text of a statement's first row. A statement that writes needs a transaction: without one,
   * the drivers commit after they have read the row, and return the row even if the commit fails.
   */
  #ask({ text, values }: Statement): string | undefined {
    const row = this.#prepare(text).get(...values);
    if (row === undefined || row === null) return undefined;
    const value = readValue(row);
    if (typeof value === 'string') return value;
    throw new InvalidOptionError(
      'database',
      'database must answer a query with its first row at once; received something else: use a DatabaseSync of node:sqlite or a Database of better-sqlite3',
    );
  }

  #count({ text, values }: Statement): number {
    return Number(this.#prepare(text).run(...values).changes);
  }

  #prepare(text: string): SqliteStatement {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  #within<Value>(tx: SqliteDatabase, step: () => Value): Value {
    if (tx !== this.#database) throw invalidTx('something else');
    if (isOutsideTransaction(tx)) throw invalidTx('that database without a transaction');
    try {
      return step();
    } catch (error) {
      throw explain(error);
    }
  }

  #write<Value>(step: () => Value): Promise<Value> {
    return this.#whenFree(() => runInTransaction(this.#database, step));
  }

  async #whenFree<Value>(step: () => Value): Promise<Value> {
    const untilMs = performance.now() + PATIENCE_MS;
    const mayRetry = () => performance.now() < untilMs;
    try {
      return await whenFree(this.#database, step, mayRetry, stillBlocked);
    } catch (error) {
      throw explain(error);
    }
  }
}

function stillBlocked(blocker: string, cause: unknown): OutboxError {
  return new OutboxError(
    'OUTBOX_TIMEOUT',
    `A step of the outbox could not run within ${PATIENCE_MS} ms, because ${blocker}. Keep transactions short, and keep no transaction or iterate() open across an await`,
    { cause },
  );
}

// SQLite has no error codes for these.
const MISSING = /no such (?:table|column)|has no column named/;

/** Converts the failure of a step to an error for users. */
function explain(cause: unknown): unknown {
  if (cause instanceof MerchantPaymentsError) return cause;
  if (cause instanceof Error && MISSING.test(cause.message)) {
    return new OutboxError(
      'MISSING_TABLES',
      'The tables of the outbox are missing, or have the columns of something else, such as an inbox with the same prefix; give the outbox a prefix of its own, and call its setup() once before its first payment',
      { cause },
    );
  }
  return new OutboxError(
    'STORE_FAILED',
    'SQLite failed during a step of the outbox, which was not done; see cause',
    { cause },
  );
}

function invalidTx(received: string): InvalidOptionError {
  return new InvalidOptionError(
    'tx',
    `tx must be the database that the outbox was made from, with your transaction open on it; received ${received}`,
  );
}
