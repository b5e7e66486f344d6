import { explainFailedEnd, noConnectionInTime, transactionEnded } from './failures.js';
import type { PgliteLike, PgliteTransactionLike, Queryable } from './pool.js';
import type { Transactions } from './transactions.js';

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
            const results = await tx.exec(statements);
            return results.at(-1)?.rows ?? [];
          },
        });
        if (ending.end === 'rollback') await tx.rollback();
        else if (ending.statements !== undefined) {
          if (tx.closed) throw transactionEnded();
          await tx.exec(ending.statements).catch((error) => {
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
      // Its caller was told that nothing was processed.
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
