import { noConnectionInTime } from './failures.js';
import { assertClient, type PgClientLike, type PgPoolLike, type Queryable } from './pool.js';

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
      // The pool can't be told that nothing waits any more, and hands one out all the same.
      if (isLate) giveBack(client, onError);
      else resolve(client);
    };
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(error);
    };
    // By a callback where the pool takes one, as pg's does: the end of a connection may come in one
    // piece with its beginning, and with a promise nobody would listen yet.
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

/** Gives it back; with an error it is closed instead. */
export function giveBack(client: PgClientLike, onError: OnError, broken?: Error): void {
  // Released first: the pool listens from then on.
  client.release(broken);
  client.removeListener('error', onError);
}
