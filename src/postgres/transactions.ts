import { StoreError } from '../errors.js';
import type { Row } from '../store/sql/runner.js';
import { explainFailedEnd, noConnectionInTime, transactionEnded } from './failures.js';
import type { PgliteLike, PgliteTransactionLike, Queryable } from './pool.js';

/** A connection for one transaction, which the body begins. */
export interface OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with an StoreError as its reason. */
  readonly signal: AbortSignal;
  /**
   * Begins the READ COMMITTED transaction and runs the statements, in as few messages as possible. Call it once,
   * before you send anything else. Resolves with the rows of the last statement.
   *
   * @param statements the first is a SELECT without FROM, so that columns can be added to it
   * @throws {StoreError} `STORE_TIMEOUT` when there is no answer within `timeoutMs`
   */
  begin(statements: readonly string[], timeoutMs: number): Promise<readonly Row[]>;
  /** Runs one statement. */
  query(statement: string): Promise<readonly Row[]>;
}

/** How a body that does not throw wants its transaction to end, and its result. */
export type Ending<Result> =
  | { readonly end: 'rollback'; readonly result: Result }
  | {
      readonly end: 'commit';
      readonly result: Result;
      /** Run just before COMMIT, which is not sent if one of them fails. */
      readonly statements?: readonly string[];
    };

/** Runs each body in its own transaction: the common interface of pg's pool, PGlite and ORMs. */
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

/** The first statement of maintenance. Makes the commit durable, because a change may be acknowledged once it is stored. */
export function maintenanceSettings(lockTimeoutMs: number): string {
  return `SELECT set_config('lock_timeout', '${lockTimeoutMs}', true),
  set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),
  set_config('idle_in_transaction_session_timeout', '60000', true)`;
}

/**
 * Returns the only text in the first row. The inbox selects nothing but texts, because a pool may parse
 * other types in its own way, and `'f'` is true in JavaScript.
 *
 * @throws {StoreError} `STORE_FAILED` for anything else
 */
export function onlyText(rows: readonly Row[] | undefined): string {
  const value: unknown = Object.values(rows?.[0] ?? {})[0];
  if (typeof value === 'string') return value;
  throw changedAnswer();
}

export function changedAnswer(): StoreError {
  return new StoreError(
    'STORE_FAILED',
    'The pool did not return the text that Postgres sent, so nothing was processed; look for a type parser, or a wrapper of the pool, that changes what queries return',
  );
}

/** Transactions on PGlite, where each waits until the previous one has ended. */
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
      // Too late: the caller has already received the error that nothing was processed.
      return late ? undefined : body(tx);
    };
    // Undefined only if it was late, when this promise has already settled.
    const finish = (result: Result | undefined) => resolve(result as Result);
    database
      .transaction(start)
      .finally(() => clearTimeout(timer))
      .then(finish, reject);
  });
}
