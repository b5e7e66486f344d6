import { runWithView } from '../store/providers/work-view.js';
import {
  type Connections,
  type Ending,
  type OpenTransaction,
  RELEASE,
  SAVEPOINT,
} from '../store/sql/transactions.js';
import { databaseErrorOf, failures } from './failures.js';
import { runInTransaction } from './merchants-transaction.js';
import type { PgliteLike, PgliteTransactionLike, Queryable } from './pool.js';
import { DURABLY, lockLimit } from './settings.js';

type PgliteTx<Tx> = Tx & PgliteTransactionLike;

/** The one connection of a PGlite, which runs in the same process: each transaction waits for the previous one. */
export function pgliteConnections<Tx extends Queryable>(database: PgliteLike<Tx>): Connections<Tx> {
  const asker = database as unknown as Queryable;
  return {
    run(body) {
      let hasBegun = false;
      const begun = database.transaction((tx) => {
        hasBegun = true;
        return runOn(tx, body);
      });
      return begun.catch((error) =>
        Promise.reject(hasBegun ? error : failures.noConnection(error)),
      );
    },
    read: async (statement) => failures.textsOf((await asker.query<object>(statement)).rows),
    change: async () => undefined,
    runIn: runInTransaction,
  };
}

async function runOn<Tx extends Queryable, Result>(
  tx: PgliteTx<Tx>,
  body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>,
): Promise<Result> {
  let hasSavepoint = false;
  const ending = await body({
    tx,
    signal: new AbortController().signal,
    async begin(lockTimeoutMs, statements) {
      const before = hasSavepoint ? [] : [lockLimit(lockTimeoutMs)];
      hasSavepoint = statements.length > 0;
      const after = hasSavepoint ? [SAVEPOINT] : [];
      const results = await clean(tx.exec([...before, ...statements, ...after].join('; ')));
      return results.flatMap(({ rows }) => failures.textsOf(rows));
    },
    ask: async (statement) => failures.textsOf((await clean(tx.query<object>(statement))).rows),
    runWork: (work) => runWithView<Tx>((end) => end.viewOf(tx), work),
  });
  if (ending.end === 'rollback') await tx.rollback();
  else {
    if (tx.closed) throw failures.transactionEnded();
    const statements = [...(hasSavepoint ? [RELEASE] : []), DURABLY, ...ending.statements];
    await clean(tx.exec(statements.join('; '))).catch((error) => {
      throw failures.explainFailedEnd(error);
    });
  }
  return ending.result;
}

// The error of a PGlite has the statement, which contains references and bodies.
function clean<Answer>(asking: Promise<Answer>): Promise<Answer> {
  return asking.catch((error) => Promise.reject(databaseErrorOf(error)));
}
