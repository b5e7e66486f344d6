/** The time limits of a claim, in milliseconds. */
export interface ClaimLimits {
  /** For the lock of the order. */
  readonly lockTimeoutMs: number;
  /** For an answer, not counting the wait for the lock. */
  readonly commandTimeoutMs: number;
  /** For the next statement of the work. */
  readonly idleTimeoutMs: number;
}

/** A connection for one transaction, which the body begins. */
export interface OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with a StoreError as its reason. */
  readonly signal: AbortSignal;
  /**
   * Begins the READ COMMITTED transaction, runs the statements and sets a savepoint, in as few messages as possible.
   * Call it once, before you send anything else.
   *
   * @returns the text in each row of the last statement
   * @throws {StoreError} `STORE_TIMEOUT` when there is no answer in time; else what the driver throws
   */
  begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]>;
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

/** Runs each body in its own transaction: the common interface of pools, PGlite and ORMs. */
export interface Transactions<Tx> {
  /**
   * Runs `body` in a transaction, and commits or rolls back as `body` returns; rolls back
   * if it throws. Rejects without waiting for `body` if the connection is lost.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when there is no connection, or no answer, in time;
   * `TRANSACTION_LOST` when the connection is lost, or `body` has ended or broken the transaction
   */
  run<Result>(body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>): Promise<Result>;
}
