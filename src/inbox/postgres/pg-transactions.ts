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
      const client = await takeConnection(pool, acquireTimeoutMs);
      const lost = new AbortController();
      const { signal } = lost;
      // A client that emits an error nobody listens for ends the process.
      const onError = (error: Error) => lost.abort(connectionLost(error));
      client.on('error', onError);
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
        // Released first: the pool listens from then on.
        client.release(broken);
        client.removeListener('error', onError);
      }
    },
  };
}

async function takeConnection<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  timeoutMs: number,
): Promise<Tx & PgClientLike> {
  const connecting = pool.connect();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(noConnectionInTime(timeoutMs));
      // The pool can't be told that nobody waits any more, and hands one out all the same.
      connecting.then(
        (client) => client.release(),
        () => undefined,
      );
    }, timeoutMs);
  });
  try {
    const client = await Promise.race([connecting, tooLate]);
    assertClient(client);
    return client;
  } finally {
    clearTimeout(timer);
  }
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
