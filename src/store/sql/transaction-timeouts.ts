/** Timeouts in milliseconds. */
export interface TransactionTimeouts {
  /** For a connection of the pool. */
  readonly acquireTimeoutMs: number;
  /** For the answer to COMMIT or ROLLBACK. */
  readonly commandTimeoutMs: number;
  /** For everything in between, including the statements of the body. */
  readonly transactionTimeoutMs: number;
}
