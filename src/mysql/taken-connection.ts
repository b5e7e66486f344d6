import { hasMethods } from '../store/providers/provider.js';
import { failures } from './failures.js';
import {
  assertConnection,
  type MysqlConnectionLike,
  type MysqlPoolLike,
  type MysqlQueryable,
} from './pool.js';

type OnLost = (error?: Error) => void;

/** Takes a connection from the pool, and attaches `onLost` immediately. */
export function takeConnection<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  timeoutMs: number,
  onLost: OnLost,
): Promise<Tx & MysqlConnectionLike> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(failures.noConnectionInTime(timeoutMs));
    }, timeoutMs);
    Promise.resolve(pool.getConnection())
      .then((connection) => {
        clearTimeout(timer);
        assertConnection(connection);
        // A request to the pool can't be cancelled, so a late connection must be released.
        if (isLate) return connection.release();
        // An `error` event without a listener ends the process.
        const emitter = emitterOf(connection);
        emitter.on('error', onLost);
        emitter.on('end', onLost);
        resolve(connection);
      })
      .catch((error) => {
        clearTimeout(timer);
        reject(failures.noConnection(error));
      });
  });
}

export function releaseOrDestroy(
  connection: MysqlConnectionLike,
  onLost: OnLost,
  isBroken: boolean,
): void {
  if (isBroken) destroy(connection);
  else connection.release();
  const emitter = emitterOf(connection);
  emitter.removeListener('error', onLost);
  emitter.removeListener('end', onLost);
}

type Emitter = Pick<MysqlConnectionLike, 'on' | 'removeListener'>;

/** The underlying callback connection, if there is one: the promise wrapper forwards its events at a cost. */
function emitterOf(connection: MysqlConnectionLike): Emitter {
  const { connection: core } = connection as { readonly connection?: Emitter };
  return hasMethods(core, ['on', 'removeListener']) ? (core as Emitter) : connection;
}

interface WithSocket {
  readonly connection?: { readonly stream?: { destroy?: () => void } };
}

function destroy(connection: MysqlConnectionLike): void {
  connection.destroy();
  // The driver only ends its side of the socket, which stays open on a network that swallows packets.
  (connection as WithSocket).connection?.stream?.destroy?.();
}
