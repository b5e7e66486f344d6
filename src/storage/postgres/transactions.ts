import { InboxError } from '../../errors.js';
import type { Row } from '../runner.js';
import { explainFailedEnd, noConnectionInTime, transactionEnded } from './failures.js';
import type { PgliteLike, PgliteTransactionLike, Queryable } from './pool.js';

/** A transaction, from before its beginning to before its end. */
export interface OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with an InboxError as its reason. */
  readonly signal: AbortSignal;
  /**
   * Begins the READ COMMITTED transaction and runs the statements, in as few messages as possible. To
   * be called once, before anything else is sent. Gives the rows of the last statement.
   *
   * @param statements the first is a SELECT without FROM, to which columns may be added
   * @throws {InboxError} `INBOX_TIMEOUT` when there is no answer within `timeoutMs`
   */
  begin(statements: readonly string[], timeoutMs: number): Promise<readonly Row[]>;
  /** Runs one statement. */
  query(statement: string): Promise<readonly Row[]>;
}

/** How a body wants its transaction to end when it does not throw, and what it gives. */
export type Ending<Result> =
  | { readonly end: 'rollback'; readonly result: Result }
  | {
      readonly end: 'commit';
      readonly result: Result;
      /** What runs just before COMMIT, which is not sent if one of them fails. */
      readonly statements?: readonly string[];
    };

/** Runs bodies in transactions of their own: what pg's pool, PGlite and an ORM are reduced to. */
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

/** The statement with which maintenance begins. It commits to disk: a change may be acknowledged for being kept. */
export function maintenanceSettings(lockTimeoutMs: number): string {
  return `SELECT set_config('lock_timeout', '${lockTimeoutMs}', true),
  set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),
  set_config('idle_in_transaction_session_timeout', '60000', true)`;
}

/**
 * The one text that a statement of the inbox gives. Everything it asks for is text: a pool may parse
 * any other type in its own way, and `f` is true to JavaScript.
 *
 * @throws {InboxError} `STORE_FAILED` when it is something else
 */
export function onlyText(rows: readonly Row[] | undefined): string {
  const value: unknown = Object.values(rows?.[0] ?? {})[0];
  if (typeof value === 'string') return value;
  throw new InboxError(
    'STORE_FAILED',
    'The pool does not give the text that Postgres answered, so nothing was processed; look for a type parser, or a wrapper of the pool, that changes what queries return',
  );
}

/** Transactions on PGlite, where each waits until the one before has ended. */
export function pgliteTransactions<Tx extends Queryable>(
  database: PgliteLike<Tx>,
  acquireTimeoutMs: number,
): Transactions<Tx> {
  return {
    run(body) {
      return startInTime(database, acquireTimeoutMs, async (tx) => {
        const ending = await body({
          tx,
          signal: new AbortController().signal,
          async begin(statements) {
            const results = await tx.exec(statements.join(';'));
            return results.at(-1)?.rows ?? [];
          },
          query: async (statement) => (await tx.query<Row>(statement)).rows,
        });
        if (ending.end === 'rollback') await tx.rollback();
        else if (ending.statements !== undefined) {
          if (tx.closed) throw transactionEnded();
          await tx.exec(ending.statements.join(';')).catch((error) => {
            throw explainFailedEnd(error);
          });
        }
        return ending.result;
      });
    },
  };
}

function startInTime<Tx extends Queryable, Result>(
  database: PgliteLike<Tx>,
  timeoutMs: number,
  body: (tx: Tx & PgliteTransactionLike) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      reject(noConnectionInTime(timeoutMs));
    }, timeoutMs);
    const start = async (tx: Tx & PgliteTransactionLike): Promise<Result | undefined> => {
      clearTimeout(timer);
      // Its caller has had the error that nothing was processed.
      return late ? undefined : body(tx);
    };
    // Undefined only for one that is late, whose promise is settled already.
    const finish = (result: Result | undefined) => resolve(result as Result);
    database
      .transaction(start)
      .finally(() => clearTimeout(timer))
      .then(finish, reject);
  });
}
