import type { Row } from './answer.js';
import {
  connectionLost,
  explainFailedEnd,
  noAnswerInTime,
  noEndInTime,
  spoilsConnection,
  sqlStateOf,
  transactionAborted,
} from './failures.js';
import { Loss } from './loss.js';
import type { PgPoolLike, Queryable } from './pool.js';
import { giveBack, takeConnection } from './pool-connection.js';
import type { OpenTransaction, Transactions } from './transactions.js';

/** How long may be waited, in milliseconds. */
export interface PgTimeouts {
  /** For a connection of the pool. */
  readonly acquireTimeoutMs: number;
  /** For the answer to the end of a transaction. */
  readonly commandTimeoutMs: number;
}

/** Transactions on connections of a pool. */
export function pgTransactions<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs }: PgTimeouts,
): Transactions<Tx> {
  return {
    async run(body) {
      const loss = new Loss();
      // A client that emits an error nobody listens for ends the process.
      const onError = (error: Error) => loss.report(connectionLost(error));
      const client = await takeConnection(pool, acquireTimeoutMs, onError);
      const transaction = new PgTransaction(client, loss);
      let broken: Error | undefined;
      try {
        const ending = await loss.orSettled(body(transaction));
        if (ending.end === 'rollback') broken = await transaction.rollBack(commandTimeoutMs);
        else await transaction.commit(ending.statements, commandTimeoutMs);
        return ending.result;
      } catch (error) {
        broken = spoilsConnection(error)
          ? toError(error)
          : await transaction.rollBack(commandTimeoutMs);
        throw error;
      } finally {
        giveBack(client, onError, broken);
      }
    },
  };
}

// Both modes are said: the database's defaults may fail where these wait, and write.
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

class PgTransaction<Tx extends Queryable> implements OpenTransaction<Tx> {
  readonly tx: Tx;
  readonly #loss: Loss;

  constructor(client: Tx, loss: Loss) {
    this.tx = client;
    this.#loss = loss;
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  async begin(statements: string, timeoutMs: number): Promise<readonly Row[]> {
    return (await this.#ask(`${BEGIN}; ${statements}`, timeoutMs, noAnswerInTime)).rows;
  }

  async commit(statements: string | undefined, timeoutMs: number): Promise<void> {
    if (this.#loss.reason !== undefined) throw this.#loss.reason;
    const text = statements === undefined ? 'COMMIT' : `${statements}; COMMIT`;
    let command: string | undefined;
    try {
      ({ command } = await this.#loss.orSettled(this.#ask(text, timeoutMs, noEndInTime)));
    } catch (error) {
      throw explainFailedEnd(error);
    }
    // Postgres answers the COMMIT of an aborted transaction with ROLLBACK, and no error.
    if (command !== undefined && command !== 'COMMIT') throw transactionAborted();
  }

  /** Gives why the connection can't be used again, if so. */
  async rollBack(timeoutMs: number): Promise<Error | undefined> {
    if (this.#loss.reason !== undefined) return this.#loss.reason;
    try {
      await this.#loss.orSettled(this.#ask('ROLLBACK', timeoutMs, noAnswerInTime));
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }

  /** Gives what the last statement of the text gave. Settles late, or never, when there is a loss. */
  async #ask(
    text: string,
    timeoutMs: number,
    createTimeout: (timeoutMs: number) => Error,
  ): Promise<LastResult> {
    const timer = setTimeout(() => this.#loss.report(createTimeout(timeoutMs)), timeoutMs);
    try {
      const results: unknown = await this.tx.query(text);
      // For several statements pg gives a list.
      return (Array.isArray(results) ? results.at(-1) : results) as LastResult;
    } catch (error) {
      // Not an answer of Postgres: there is no knowing what its next one will be to.
      if (sqlStateOf(error) === undefined) this.#loss.report(toError(error));
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

interface LastResult {
  readonly rows: readonly Row[];
  readonly command?: string;
}

function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  return new Error('the driver rejected with no Error', { cause: reason });
}
