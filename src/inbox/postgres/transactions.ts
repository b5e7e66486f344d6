import type { Row } from './answer.js';

/** A transaction, from before its beginning to before its end. */
export interface OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with an InboxError as its reason. */
  readonly signal: AbortSignal;
  /**
   * Begins the READ COMMITTED transaction and runs the statements, in one message. To be called
   * once, before anything else is sent. Gives the rows of the last statement.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when there is no answer within `timeoutMs`
   */
  begin(statements: string, timeoutMs: number): Promise<readonly Row[]>;
}

/** How a body wants its transaction to end when it does not throw, and what it gives. */
export type Ending<Result> =
  | { readonly end: 'rollback'; readonly result: Result }
  | {
      readonly end: 'commit';
      readonly result: Result;
      /** Statements that are sent in one message with COMMIT, which none of them gets to if one fails. */
      readonly statements?: string;
    };

/** Runs bodies in transactions of their own: what pg's pool and PGlite are reduced to. */
export interface Transactions<Tx> {
  /**
   * Runs `body` in a transaction, which is committed or rolled back as `body` says, and rolled back
   * when it throws. Rejects without waiting for `body` when the connection is lost.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when there is no connection, or no answer, in time;
   * `TRANSACTION_LOST` when the connection is lost, or `body` has ended or broken the transaction
   */
  run<Result>(body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>): Promise<Result>;
}

/** The statement with which maintenance begins. */
export function maintenanceSettings(lockTimeoutMs: number): string {
  return `SELECT set_config('lock_timeout', '${lockTimeoutMs}', true),
  set_config('idle_in_transaction_session_timeout', '60000', true)`;
}
