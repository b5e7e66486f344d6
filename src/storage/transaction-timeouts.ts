/** How long may be waited, in milliseconds. */
export interface TransactionTimeouts {
  /** For a connection of the pool. */
  readonly acquireTimeoutMs: number;
  /** For the answer to the end of a transaction. */
  readonly commandTimeoutMs: number;
  /** For everything between, the statements of the body included. */
  readonly transactionTimeoutMs: number;
}
