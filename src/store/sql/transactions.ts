import type { Dialect } from './dialect.js';
import type { ServerFailures } from './server-failures.js';

/** How long a server may take, in milliseconds. */
export interface ServerTimeouts {
  /** For a connection of the pool. */
  readonly acquireTimeoutMs: number;
  /** For the lock of an order. */
  readonly lockTimeoutMs: number;
  /** For an answer, not counting a wait for that lock. */
  readonly commandTimeoutMs: number;
  /** For the transaction of a change, with everything that the work does. */
  readonly transactionTimeoutMs: number;
  /** For the next statement of the work. */
  readonly idleTimeoutMs: number;
}

/** The time limits of a claim. */
export type ClaimLimits = Pick<
  ServerTimeouts,
  'lockTimeoutMs' | 'commandTimeoutMs' | 'idleTimeoutMs'
>;

/** A connection for one transaction, which the body begins. */
export interface OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with a StoreError as its reason. */
  readonly signal: AbortSignal;
  /**
   * Begins the READ COMMITTED transaction, runs the statements and sets a savepoint, in as few messages as possible.
   * Call it once, before you send anything else.
   *
   * @returns the text in each row of the statements
   * @throws {StoreError} `STORE_TIMEOUT` when there is no answer in time; else what the driver throws
   */
  begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]>;
  /** Runs one statement. Resolves with the text in each row. */
  ask(statement: string): Promise<readonly string[]>;
  /** Runs the work with its `tx`, on which transactions become savepoints. */
  runWork(work: (tx: Tx) => Promise<void>): Promise<void>;
}

/** How a body that does not throw wants its transaction to end, and its result. */
export type Ending<Result> =
  | { readonly end: 'rollback'; readonly result: Result }
  | {
      readonly end: 'commit';
      readonly result: Result;
      /** Whether everything since the savepoint is rolled back first. */
      readonly undo: boolean;
      /** Run just before COMMIT, which is not sent if one of them fails, or if the transaction has ended before. */
      readonly statements: readonly string[];
    };

/** The deadline of a transaction. */
export interface Deadline {
  readonly timeoutMs: number;
  createError(timeoutMs: number): Error;
}

/** Runs one statement. Resolves with the text in each row. */
export type Ask = (statement: string) => Promise<readonly string[]>;

/** What a store needs of a database's connections: the common interface of pools, PGlite and ORMs. */
export interface Connections<Tx> {
  /** Whether there is only one connection, on which a wait for a lock would block everything. */
  readonly isSingle: boolean;
  /**
   * Runs `body` in a transaction, and commits or rolls back as `body` returns; rolls back
   * if it throws. Rejects without waiting for `body` if the connection is lost.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when there is no connection, or no answer, in time;
   * `TRANSACTION_LOST` when the connection is lost, or `body` has ended or broken the transaction
   */
  run<Result>(
    body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>,
    deadline?: Deadline,
  ): Promise<Result>;
  /** Runs one SELECT. Resolves with the text in each row. */
  read(statement: string): Promise<readonly string[]>;
  /** Whether a statement of {@link change} may run after its call has given up, as a claim must not. */
  readonly runsLate?: boolean;
  /**
   * Runs one INSERT or UPDATE in its own transaction.
   *
   * @param statement returns it, given the driver's id of the session if one is needed to cancel it
   * @returns whether it has changed a row; undefined, with nothing changed, if only a step can tell
   */
  change(statement: (session?: number) => string): Promise<boolean | undefined>;
  /**
   * Runs `body` in the merchant's transaction.
   *
   * @throws {InvalidOptionError} when `tx` is not an open transaction
   */
  runIn<Value>(tx: Tx, body: (ask: Ask) => Promise<Value>): Promise<Value>;
}

/** A database server, as a store uses it. */
export interface StoreServer<Tx> {
  readonly connections: Connections<Tx>;
  readonly dialect: Dialect;
  readonly failures: ServerFailures;
  /** Whether a SELECT outside a transaction returns only what is committed, whatever the session's defaults are. */
  readonly readsCommitted: boolean;
  /** Creates what is missing. */
  setup(): Promise<void>;
  /**
   * Cancels the statement that begins with a comment with this owner, which the server still runs although its sender
   * has given up.
   */
  cancel(owner: string, read: Ask): Promise<unknown>;
}
