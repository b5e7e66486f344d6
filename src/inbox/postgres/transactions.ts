/** A transaction that has begun. */
export interface OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with an InboxError as its reason. */
  readonly signal: AbortSignal;
  /** What `lock_timeout` was before the transaction set its own, in Postgres' words: `5s`. */
  readonly previousLockTimeout: string;
  /** @throws {InboxError} `TRANSACTION_LOST` when the transaction is known to have ended */
  assertOpen(): void;
}

/** How a body wants its transaction to end when it does not throw, and what it gives. */
export interface Ending<Result> {
  readonly end: 'commit' | 'rollback';
  readonly result: Result;
}

/** Runs bodies in transactions of their own: what pg's pool and PGlite are reduced to. */
export interface Transactions<Tx> {
  /**
   * Runs `body` in a READ COMMITTED transaction whose statements wait for a lock `lockTimeoutMs`
   * at most. It is committed or rolled back as `body` says, and rolled back when it throws.
   * Rejects without waiting for `body` when the connection is lost.
   */
  run<Result>(
    lockTimeoutMs: number,
    body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>,
  ): Promise<Result>;
}

/** The statements that remember `lock_timeout` and set it until the transaction ends. */
export function lockTimeoutStatements(lockTimeoutMs: number): string {
  return `SHOW lock_timeout; SET LOCAL lock_timeout = ${lockTimeoutMs}`;
}
