import { InvalidOptionError, MerchantPaymentsError, StoreError } from '../errors.js';
import type { SqlSession, Step } from '../store/sql/session.js';
import type { Statements } from '../store/sql/statements.js';
import {
  isOutsideTransaction,
  readValue,
  runInTransaction,
  type SqliteDatabase,
  waitWhileLocked,
  whenFree,
} from './database.js';

const PATIENCE_MS = 5_000;

/** Runs the statements and steps of an outbox on SQLite, each at once: none leaves a transaction open across an await. */
export class SqliteSession implements SqlSession<SqliteDatabase | undefined> {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  createTables({ schema }: Statements): void {
    // Several processes may start at the same time.
    explained(() => waitWhileLocked(() => this.#database.exec(`${schema.join(';\n')};`)));
  }

  read(statement: string): Promise<readonly string[]> {
    return this.#whenFree(() => this.#ask(statement));
  }

  // A statement on its own would cost as much as the step.
  async change(): Promise<undefined> {}

  run<Value>(step: () => Step<Value>): Promise<Value> {
    return this.#whenFree(() => runInTransaction(this.#database, () => this.#walk(step)));
  }

  async runIn<Value>(tx: SqliteDatabase, step: () => Step<Value>): Promise<Value> {
    if (tx !== this.#database) throw invalidTx('something else');
    if (isOutsideTransaction(tx)) throw invalidTx('that database without a transaction');
    return explained(() => this.#walk(step));
  }

  /** Runs a step in the transaction that is open on the connection. */
  runNow<Value>(step: () => Step<Value>): Value {
    if (isOutsideTransaction(this.#database)) {
      throw new InvalidOptionError(
        'database',
        'database must have your transaction open when recordNow is called; received one without a transaction',
      );
    }
    return explained(() => this.#walk(step));
  }

  // A step ends before another one can wait for it.
  async cancel(): Promise<void> {}

  #walk<Value>(step: () => Step<Value>): Value {
    const statements = step();
    let next = statements.next();
    while (!next.done) next = statements.next(this.#ask(next.value));
    return next.value;
  }

  #ask(statement: string): readonly string[] {
    const prepared = this.#database.prepare(statement);
    if (!statement.startsWith('SELECT')) {
      prepared.run();
      return [];
    }
    const rows: unknown = prepared.all();
    const texts = Array.isArray(rows) ? rows.map(readValue) : [rows];
    if (texts.every((text) => typeof text === 'string')) return texts;
    throw new InvalidOptionError(
      'database',
      'database must answer a query with its rows at once; received something else: use a DatabaseSync of node:sqlite or a Database of better-sqlite3',
    );
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

function explained<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (error) {
    throw explain(error);
  }
}

function stillBlocked(blocker: string, cause: unknown): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
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
    return new StoreError(
      'MISSING_TABLES',
      'The tables of the outbox are missing, or have the columns of something else, such as an inbox with the same prefix; give the outbox a prefix of its own, and call its setup() once before its first payment',
      { cause },
    );
  }
  return new StoreError(
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
