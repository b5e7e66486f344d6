import type { Step } from '../store/payment-steps.js';
import type { SqlSession } from '../store/sql/transactions.js';
import {
  isInTransaction,
  isInUse,
  isLocked,
  isOutsideTransaction,
  readColumn,
  runInTransaction,
  type SqliteDatabase,
} from './database.js';
import {
  explain,
  explained,
  invalidAnswer,
  invalidTx,
  noTransaction,
  stillBlocked,
} from './failures.js';

const PATIENCE_MS = 5_000;
const LOCK_PAUSE_MS = 20;

/** How long a step is tried, and the error after that. */
export interface Patience {
  mayRetry(): boolean;
  createTimeout(blocker: string, cause: unknown): Error;
}

/** Tries for a number of milliseconds. */
export function patienceOf(
  ms: number,
  createTimeout: (blocker: string, cause: unknown, ms: number) => Error,
): Patience {
  const untilMs = performance.now() + ms;
  return {
    mayRetry: () => performance.now() < untilMs,
    createTimeout: (blocker, cause) => createTimeout(blocker, cause, ms),
  };
}

/** Runs the statements and steps of a store on SQLite, each at once: none leaves a transaction open across an await. */
export class SqliteSession implements SqlSession<SqliteDatabase | undefined> {
  readonly #database: SqliteDatabase;
  readonly #missing: () => Step<readonly string[]>;

  /** @param missing finds the statements that create what is missing */
  constructor(database: SqliteDatabase, missing: () => Step<readonly string[]>) {
    this.#database = database;
    this.#missing = missing;
  }

  async setup(): Promise<void> {
    const patience = patienceOf(PATIENCE_MS, stillBlocked);
    // Without the write lock, and without the right to write.
    const missing = await this.#whenFree(() => this.#walk(this.#missing), patience);
    if (missing.length > 0) await this.runFor(patience, () => this.#create());
  }

  *#create(): Step<void> {
    for (const statement of yield* this.#missing()) yield statement;
  }

  read(statement: string): Promise<readonly string[]> {
    return this.#whenFree(() => this.#ask(statement));
  }

  // A statement on its own would cost as much as the step.
  async change(): Promise<undefined> {}

  run<Value>(step: () => Step<Value>): Promise<Value> {
    return this.runFor(patienceOf(PATIENCE_MS, stillBlocked), step);
  }

  /** Runs a step in its own transaction, with another patience. */
  runFor<Value>(patience: Patience, step: () => Step<Value>): Promise<Value> {
    return this.#whenFree(() => this.runOnce(step), patience);
  }

  async runIn<Value>(tx: SqliteDatabase, step: () => Step<Value>): Promise<Value> {
    return explained(() => {
      if (tx !== this.#database) throw invalidTx('something else');
      if (isOutsideTransaction(tx)) throw invalidTx('that database without a transaction');
      return this.#walk(step);
    });
  }

  /** Runs a step in the transaction that is open on the connection. */
  runNow<Value>(step: () => Step<Value>): Value {
    return explained(() => {
      if (isOutsideTransaction(this.#database)) throw noTransaction();
      return this.#walk(step);
    });
  }

  /** Runs a step at once, in its own transaction. Throws what the driver throws. */
  runOnce<Value>(step: () => Step<Value>): Value {
    return runInTransaction(this.#database, () => this.#walk(step));
  }

  /** Runs a step that only reads at once. Throws what the driver throws. */
  readOnce<Value>(step: () => Step<Value>): Value {
    return this.#walk(step);
  }

  get isInTransaction(): boolean {
    return explained(() => isInTransaction(this.#database));
  }

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
    const texts = readColumn(prepared.all());
    if (texts.every((text) => typeof text === 'string')) return texts;
    throw invalidAnswer();
  }

  /**
   * Runs a step once the connection is free: no other connection has the file locked, and no transaction is open on
   * this one, whose rollback would undo the step. Retries without blocking the process, while there is patience.
   */
  async #whenFree<Value>(
    step: () => Value,
    { mayRetry, createTimeout } = patienceOf(PATIENCE_MS, stillBlocked),
  ): Promise<Value> {
    try {
      for (;;) {
        let cause: unknown;
        if (!isInTransaction(this.#database)) {
          try {
            return step();
          } catch (error) {
            if (!isLocked(error) && !isInUse(error)) throw error;
            cause = error;
          }
        }
        if (!mayRetry()) throw createTimeout(blockerOf(cause), cause);
        await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
      }
    } catch (error) {
      throw explain(error);
    }
  }
}

function blockerOf(cause: unknown): string {
  return isLocked(cause)
    ? 'another connection had the file locked'
    : 'a transaction or an iterate() was open on the connection';
}
