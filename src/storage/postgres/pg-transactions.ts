import { Loss, toError } from '../loss.js';
import type { Row } from '../runner.js';
import type { TransactionTimeouts } from '../transaction-timeouts.js';
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
import { assertClient, type PgClientLike, type PgPoolLike, type Queryable } from './pool.js';
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

  /**
   * Runs the body, which alone knows what it waits for: a statement on a network that swallows what is
   * sent never ends by itself.
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

function inOneText(statements: readonly string[]): string {
  return statements.join('; ');
}

interface LastResult {
  readonly rows: readonly Row[];
  readonly command?: string;
}

type OnError = (error: Error) => void;

/** Takes a connection of the pool, on which `onError` listens from the first moment. */
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
      // A pool's wait can't be cancelled: it hands out the connection all the same.
      if (isLate) setImmediate(giveBackLate, client, onError);
      else resolve(client);
    };
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(error);
    };
    // By a callback where the pool takes one, as pg's does: a connection may end in the same turn in which
    // it begins, before the `then` of a promise could listen.
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
 * Gives back a connection that no call waits for any more. Not within the pool's own call: from within its
 * release() the pool serves the next call that waits, and through thousands of them the stack would be full.
 */
function giveBackLate(client: PgClientLike, onError: OnError): void {
  try {
    giveBack(client, onError);
  } catch {
    // What the release() of a wrapper throws would end the process here.
  }
}

/** Gives it back; with an error it is closed instead. */
export function giveBack(client: PgClientLike, onError: OnError, broken?: Error): void {
  // Released first: the pool listens from then on.
  client.release(broken);
  client.removeListener('error', onError);
}
