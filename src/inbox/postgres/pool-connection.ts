import { noConnectionInTime } from './failures.js';
import { assertClient, type PgClientLike, type PgPoolLike, type Queryable } from './pool.js';

type OnError = (error: Error) => void;

/** Takes a connection of the pool, on which `onError` listens from the first moment. */
export async function takeConnection<Tx extends Queryable>(
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

/** Gives it back; with an error it is closed instead. */
export function giveBack(client: PgClientLike, onError: OnError, broken?: Error): void {
  // Released first: the pool listens from then on.
  client.release(broken);
  client.removeListener('error', onError);
}
