import { Loss, toError } from '../store/loss.js';
import { type Row, TransactionOpen } from '../store/sql/runner.js';
import type { TransactionTimeouts } from '../store/sql/transaction-timeouts.js';
import {
  connectionLost,
  explainFailedEnd,
  noAnswerInTime,
  noConnectionInTime,
  noEndInTime,
  noEndOfWorkInTime,
  spoilsConnection,
  sqlStateOf,
  transactionAborted,
} from './failures.js';
import {
  assertClient,
  hasOpenTransaction,
  type PgClientLike,
  type PgPoolLike,
  type Queryable,
} from './pool.js';
import type { OpenTransaction, Transactions } from './transactions.js';

/** Transactions on connections of a pool. */
export function pgTransactions<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs }: TransactionTimeouts,
): Transactions<Tx> {
  return {
    async run(body) {
      const loss = new Loss();
      // An `error` event without a listener ends the process.
      const onError = (error: Error) => loss.report(connectionLost(error));
      const client = await takeConnection(pool, acquireTimeoutMs, onError);
      const transaction = new PgTransaction(client, loss);
      let broken: Error | undefined;
      try {
        const ending = await transaction.within(transactionTimeoutMs, body);
        if (ending.end === 'rollback') broken = await transaction.rollBack(commandTimeoutMs);
        else await transaction.commit(ending.statements, commandTimeoutMs);
        return ending.result;
      } catch (error) {
        broken = spoilsConnection(error)
          ? toError(error)
          : await transaction.rollBack(commandTimeoutMs);
        throw error;
      } finally {
        release(client, onError, broken);
      }
    },
  };
}

// Both modes are explicit: a default of SERIALIZABLE would fail where this waits, and a read-only one could not write.
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

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

  /**
   * Runs the body with a deadline: on a network that swallows packets, a statement never ends on its own, and the
   * statements of the body have no other deadline.
   */
  async within<Result>(
    timeoutMs: number,
    body: (transaction: OpenTransaction<Tx>) => Promise<Result>,
  ): Promise<Result> {
    const timer = setTimeout(() => this.#loss.report(noEndOfWorkInTime(timeoutMs)), timeoutMs);
    try {
      return await this.#loss.orSettled(body(this));
    } finally {
      clearTimeout(timer);
    }
  }

  async begin(statements: readonly string[], timeoutMs: number): Promise<readonly Row[]> {
    // BEGIN would only warn, and COMMIT would store what other code had meant to roll back.
    if (hasOpenTransaction(this.tx)) {
      const failure = new TransactionOpen();
      this.#loss.report(failure);
      throw failure;
    }
    return (await this.#ask(inOneText([BEGIN, ...statements]), timeoutMs, noAnswerInTime)).rows;
  }

  async query(statement: string): Promise<readonly Row[]> {
    return (await this.tx.query<Row>(statement)).rows;
  }

  async commit(statements: readonly string[] | undefined, timeoutMs: number): Promise<void> {
    if (this.#loss.reason !== undefined) throw this.#loss.reason;
    const text = inOneText([...(statements ?? []), 'COMMIT']);
    let command: string | undefined;
    try {
      ({ command } = await this.#loss.orSettled(this.#ask(text, timeoutMs, noEndInTime)));
    } catch (error) {
      throw explainFailedEnd(error);
    }
    // Postgres answers the COMMIT of an aborted transaction with ROLLBACK, and no error.
    if (command !== undefined && command !== 'COMMIT') throw transactionAborted();
  }

  /** Resolves with the reason why the connection can't be reused, if there is one. */
  async rollBack(timeoutMs: number): Promise<Error | undefined> {
    if (this.#loss.reason !== undefined) return this.#loss.reason;
    try {
      await this.#loss.orSettled(this.#ask('ROLLBACK', timeoutMs, noAnswerInTime));
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }

  /** Resolves with the result of the last statement. May settle late, or never, after a loss. */
  async #ask(
    text: string,
    timeoutMs: number,
    createTimeout: (timeoutMs: number) => Error,
  ): Promise<LastResult> {
    const timer = setTimeout(() => this.#loss.report(createTimeout(timeoutMs)), timeoutMs);
    try {
      const results: unknown = await this.tx.query(text);
      // For several statements, pg returns a list.
      return (Array.isArray(results) ? results.at(-1) : results) as LastResult;
    } catch (error) {
      // Not an answer from Postgres: the next answer on this connection may belong to this statement.
      if (sqlStateOf(error) === undefined) this.#loss.report(toError(error));
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function inOneText(statements: readonly string[]): string {
  return statements.join('; ');
}

interface LastResult {
  readonly rows: readonly Row[];
  readonly command?: string;
}

type OnError = (error: Error) => void;

/** Takes a connection from the pool, and attaches `onError` immediately. */
export function takeConnection<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  timeoutMs: number,
  onError: OnError,
): Promise<Tx & PgClientLike> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(noConnectionInTime(timeoutMs));
    }, timeoutMs);
    const take = (client: Tx & PgClientLike): void => {
      clearTimeout(timer);
      assertClient(client);
      client.on('error', onError);
      // A request to the pool can't be cancelled, so a late connection must be released.
      if (isLate) setImmediate(releaseLate, client, onError);
      else resolve(client);
    };
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(error);
    };
    // By a callback if the pool accepts one, as pg's does: a connection may break in the same turn of the event loop in
    // which it was made, before then() could attach a listener.
    if (pool.connect.length === 0) pool.connect().then(take).catch(fail);
    else connectByCallback(pool, take, fail);
  });
}

type Connected<Client> = (error: unknown, client: Client) => void;
type ConnectByCallback<Client> = (this: object, connected: Connected<Client>) => unknown;

function connectByCallback<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  take: (client: Tx & PgClientLike) => void,
  fail: (error: unknown) => void,
): void {
  const connected: Connected<Tx & PgClientLike> = (error, client) => {
    if (error) return fail(error);
    try {
      take(client);
    } catch (wrong) {
      fail(wrong);
    }
  };
  (pool.connect as ConnectByCallback<Tx & PgClientLike>).call(pool, connected);
}

/**
 * Releases a connection for which no call waits any longer. Not synchronously in the pool's callback: release() serves
 * the next waiting call, and thousands of late ones would overflow the stack.
 */
function releaseLate(client: PgClientLike, onError: OnError): void {
  try {
    release(client, onError);
  } catch {
    // The release() of a wrapper may throw, which would end the process here.
  }
}

/** Returns the connection to the pool, which closes it if there is an error. */
export function release(client: PgClientLike, onError: OnError, broken?: Error): void {
  // Release first: from then on, the pool listens for errors.
  client.release(broken);
  client.removeListener('error', onError);
}
