import type { Row } from './answer.js';
import {
  connectionLost,
  explainFailedEnd,
  noAnswerInTime,
  noConnectionInTime,
  noEndInTime,
  spoilsConnection,
  sqlStateOf,
  transactionAborted,
} from './failures.js';
import { assertClient, type PgClientLike, type PgPoolLike, type Queryable } from './pool.js';
import type { Ending, Transactions } from './transactions.js';

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
      const lost = new AbortController();
      const { signal } = lost;
      // A client that emits an error nobody listens for ends the process.
      const onError = (error: Error) => lost.abort(connectionLost(error));
      const client = await takeConnection(pool, acquireTimeoutMs, onError);
      const connection = new Connection(client, lost);
      let broken: Error | undefined;
      try {
        const begin = (statements: string, timeoutMs: number) =>
          connection.begin(statements, timeoutMs);
        const ending = await unlessAborted(signal, body({ tx: client, signal, begin }));
        if (ending.end === 'commit') await connection.commit(ending, commandTimeoutMs);
        else broken = await connection.rollBack(commandTimeoutMs);
        return ending.result;
      } catch (error) {
        broken = spoilsConnection(error)
          ? toError(error)
          : await connection.rollBack(commandTimeoutMs);
        throw error;
      } finally {
        giveBack(client, onError, broken);
      }
    },
  };
}

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

/** The inbox's own statements on a connection. */
class Connection {
  readonly #client: Queryable;
  readonly #lost: AbortController;

  /** @param lost - aborted with its reason when the connection can't be used any more */
  constructor(client: Queryable, lost: AbortController) {
    this.#client = client;
    this.#lost = lost;
  }

  // Both modes are said: the database's defaults may fail where these wait, and write.
  async begin(statements: string, timeoutMs: number): Promise<readonly Row[]> {
    const text = `${BEGIN}; ${statements}`;
    const { rows } = await this.#ask(text, timeoutMs, noAnswerInTime);
    return rows;
  }

  async commit(
    { statements }: Extract<Ending<unknown>, { end: 'commit' }>,
    timeoutMs: number,
  ): Promise<void> {
    this.#lost.signal.throwIfAborted();
    const text = statements === undefined ? 'COMMIT' : `${statements}; COMMIT`;
    const { command } = await this.#ask(text, timeoutMs, noEndInTime).catch((error) => {
      throw explainFailedEnd(error);
    });
    // Postgres answers the COMMIT of an aborted transaction with ROLLBACK, and no error.
    if (command !== undefined && command !== 'COMMIT') throw transactionAborted();
  }

  /** Gives why the connection can't be used again, if so. */
  async rollBack(timeoutMs: number): Promise<Error | undefined> {
    const { signal } = this.#lost;
    if (signal.aborted) return toError(signal.reason);
    try {
      await this.#ask('ROLLBACK', timeoutMs, noAnswerInTime);
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }

  /** Gives what the last statement of the text gave. */
  async #ask(
    text: string,
    timeoutMs: number,
    createTimeout: (timeoutMs: number) => Error,
  ): Promise<LastResult> {
    const timer = setTimeout(() => this.#lost.abort(createTimeout(timeoutMs)), timeoutMs);
    try {
      const results: unknown = await unlessAborted(this.#lost.signal, this.#client.query(text));
      // For several statements pg gives a list.
      return (Array.isArray(results) ? results.at(-1) : results) as LastResult;
    } catch (error) {
      // Not an answer of Postgres: nobody knows what its next one will be to.
      if (sqlStateOf(error) === undefined) this.#lost.abort(toError(error));
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

type OnError = (error: Error) => void;

/** Takes a connection on which `onError` listens from the first moment. */
async function takeConnection<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  timeoutMs: number,
  onError: OnError,
): Promise<Tx & PgClientLike> {
  const connecting = connect(pool, onError);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(noConnectionInTime(timeoutMs));
      // The pool can't be told that nobody waits any more, and hands one out all the same.
      connecting.then(
        (client) => giveBack(client, onError),
        () => undefined,
      );
    }, timeoutMs);
  });
  try {
    return await Promise.race([connecting, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

type Connected<Client> = (error: unknown, client: Client) => void;
type ConnectByCallback<Client> = (this: object, connected: Connected<Client>) => unknown;

function connect<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  onError: OnError,
): Promise<Tx & PgClientLike> {
  return new Promise((resolve, reject) => {
    const listen = (client: Tx & PgClientLike): void => {
      assertClient(client);
      client.on('error', onError);
      resolve(client);
    };
    const connected: Connected<Tx & PgClientLike> = (error, client) => {
      if (error) return reject(error);
      try {
        listen(client);
      } catch (wrong) {
        reject(wrong);
      }
    };
    // By a callback where the pool takes one, as pg's does: the end of a connection may come in one
    // piece with its beginning, and with a promise nobody would listen yet.
    if (pool.connect.length === 0) pool.connect().then(listen).catch(reject);
    else (pool.connect as ConnectByCallback<Tx & PgClientLike>).call(pool, connected);
  });
}

function giveBack(client: PgClientLike, onError: OnError, broken?: Error): void {
  // Released first: the pool listens from then on.
  client.release(broken);
  client.removeListener('error', onError);
}

/** Does not wait for a body whose transaction is gone: it may hang, or wait for this connection. */
function unlessAborted<Result>(signal: AbortSignal, running: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    running.then(resolve, reject);
  });
}
