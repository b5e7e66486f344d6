import type { Step } from '../payment-steps.js';
import type { Dialect } from './dialect.js';
import type { ServerFailures } from './server-failures.js';

/** Set after the claim and before the work. It ends with the transaction, and so shows whether that is still open. */
export const SAVEPOINT = 'SAVEPOINT merchant_payments';
/** Comes first after the work, and fails if the work has ended the transaction, or a statement of it has failed. */
export const RELEASE = 'RELEASE SAVEPOINT merchant_payments';

/** A connection for one transaction, which the body begins. */
export interface OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with a StoreError as its reason. */
  readonly signal: AbortSignal;
  /**
   * Begins the READ COMMITTED transaction and runs the statements, of which the first one may wait for a lock, in as few
   * messages as possible, and then sets the savepoint. A later call runs its statements in the same transaction.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when there is no answer in time; else what the driver throws
   */
  begin(lockTimeoutMs: number, statements: readonly string[]): Promise<readonly string[]>;
  ask(statement: string): Promise<readonly string[]>;
  /**
   * Runs the work with a view of `tx`, which refuses everything once the work has ended.
   *
   * @throws {StoreError} `TRANSACTION_LOST` when the work returns while one of its queries runs; else what it throws
   */
  runWork(work: (tx: Tx) => Promise<void>): Promise<void>;
}

/** How a body that does not throw wants its transaction to end, and its result. */
export type Ending<Result> =
  | { readonly end: 'rollback'; readonly result: Result }
  | {
      readonly end: 'commit';
      readonly result: Result;
      /** Run just before COMMIT, which is not sent if one of them fails, or if the transaction has ended before. */
      readonly statements: readonly string[];
    };

export interface Deadline {
  readonly timeoutMs: number;
  createError(timeoutMs: number): Error;
}

/** Runs one statement, and resolves with the text in each row. */
export type Ask = (statement: string) => Promise<readonly string[]>;

/** What a store needs of a database: the common interface of pools, PGlite and ORMs. */
export interface Connections<Tx> {
  /**
   * Runs `body` in a transaction, which ends as `body` says, or is rolled back if it throws. Rejects without waiting for
   * `body` if the connection is lost.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when there is no connection, or no answer, in time; `TRANSACTION_LOST` when the
   * connection is lost, or `body` has ended or broken the transaction
   */
  run<Result>(
    body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>,
    deadline?: Deadline,
  ): Promise<Result>;
  read(statement: string): Promise<readonly string[]>;
  /** Runs one INSERT or UPDATE. Whether it has changed a row; undefined, with nothing changed, if only a step can tell. */
  change(statement: string, lockTimeoutMs: number): Promise<boolean | undefined>;
  /** @throws {InvalidOptionError} when `tx` is not an open transaction of the merchant's */
  runIn<Value>(tx: Tx, body: (ask: Ask) => Promise<Value>): Promise<Value>;
}

/** A database server, as a store uses it. */
export interface StoreServer<Tx> {
  readonly connections: Connections<Tx>;
  readonly dialect: Dialect;
  readonly failures: ServerFailures;
  setup(): Promise<void>;
}

/** How an engine runs statements and steps. */
export interface SqlSession<Tx> {
  /** Creates missing tables, columns and indexes. */
  setup(): Promise<void>;
  /** Runs one SELECT. */
  read(statement: string): Promise<readonly string[]>;
  /** Like that of {@link Connections}. */
  change(statement: string): Promise<boolean | undefined>;
  /** Runs a step in a transaction that it begins and ends, again after a deadlock. */
  run<Value>(step: () => Step<Value>): Promise<Value>;
  /** @throws {InvalidOptionError} when `tx` is not an open transaction of the merchant's */
  runIn<Value>(tx: Tx, step: () => Step<Value>): Promise<Value>;
}

/** Runs a step across awaits. */
export async function walk<Value>(step: () => Step<Value>, ask: Ask): Promise<Value> {
  const statements = step();
  let next = statements.next();
  while (!next.done) next = statements.next(await ask(next.value));
  return next.value;
}
