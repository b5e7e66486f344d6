import { connectionLost, noConnectionInTime, transactionAborted } from './failures.js';
import { assertClient, type PgClientLike, type PgPoolLike, type Queryable } from './pool.js';
import { type Ending, lockTimeoutStatements, type Transactions } from './transactions.js';

/** How long may be waited, in milliseconds. */
export interface PgTimeouts {
  /** For a connection of the pool. */
  readonly acquireTimeoutMs: number;
  /** By Postgres, for the next statement of a transaction. */
  readonly idleTimeoutMs: number;
}

/** Transactions on connections of a pool. */
export function pgTransactions<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, idleTimeoutMs }: PgTimeouts,
): Transactions<Tx> {
  return {
    async run(lockTimeoutMs, body) {
      const lost = new AbortController();
      const { signal } = lost;
      // A client that emits an error nobody listens for ends the process.
      const onError = (error: Error) => lost.abort(connectionLost(error));
      const client = await takeConnection(pool, acquireTimeoutMs, onError);
      let broken: Error | undefined;
      try {
        const previousLockTimeout = await begin(client, lockTimeoutMs, idleTimeoutMs);
        const assertOpen = () => signal.throwIfAborted();
        const running = body({ tx: client, signal, previousLockTimeout, assertOpen });
        return await end(client, await unlessAborted(signal, running));
      } catch (error) {
        broken = signal.aborted ? signal.reason : await rollBack(client);
        throw error;
      } finally {
        giveBack(client, onError, broken);
      }
    },
  };
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

/** Gives the `lock_timeout` of before. */
async function begin(
  client: Queryable,
  lockTimeoutMs: number,
  idleTimeoutMs: number,
): Promise<string> {
  // Both modes are said: the database's defaults may fail where these wait, and write.
  const results: unknown = await client.query(
    `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${lockTimeoutStatements(lockTimeoutMs)}; SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`,
  );
  // For several statements pg gives a list.
  const [, shown] = results as [unknown, { rows: [{ lock_timeout: string }] }];
  return shown.rows[0].lock_timeout;
}

async function end<Result>(
  client: Queryable,
  { end: how, result }: Ending<Result>,
): Promise<Result> {
  const { command }: { rows: unknown[]; command?: string } = await client.query(how.toUpperCase());
  // Postgres answers the COMMIT of an aborted transaction with ROLLBACK, and no error.
  if (how === 'commit' && command !== undefined && command !== 'COMMIT') throw transactionAborted();
  return result;
}

async function rollBack(client: Queryable): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error('ROLLBACK failed', { cause: error });
  }
}
