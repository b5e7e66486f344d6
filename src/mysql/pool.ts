import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import type { Loss } from '../store/loss.js';
import {
  hasMethods,
  isProvider,
  type TransactionProvider,
  toPassFor,
} from '../store/providers/provider.js';
import { failures } from './failures.js';

/** What your work writes through: the `PoolConnection` of `mysql2/promise` implements it. */
export interface MysqlQueryable {
  /**
   * Runs one statement.
   *
   * @param sql - SQL with placeholders `?`
   * @param values - their values
   * @returns the result and its columns
   */
  query(sql: string, values?: unknown[]): Promise<[unknown, unknown]>;
}

/** The methods of a pool's connection besides those of a {@link MysqlQueryable}. */
export interface MysqlConnectionLike {
  /** Returns the connection to the pool. */
  release(): void;
  /** Closes the connection. */
  destroy(): void;
  /** Listens for the loss of the connection. */
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown;
  /** Stops listening. */
  removeListener(event: 'error' | 'end', listener: (error?: Error) => void): unknown;
}

/** A `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`. */
export interface MysqlPoolLike<Tx extends MysqlQueryable = MysqlQueryable> {
  /** Takes a connection. */
  getConnection(): Promise<Tx & MysqlConnectionLike>;
}

/** The type of `tx`: the connection of a pool. */
export type MysqlTransactionOf<Pool> = Pool extends {
  /** Takes a connection. */
  getConnection(): Promise<infer Tx extends MysqlQueryable>;
}
  ? Tx
  : MysqlQueryable;

/** What {@link mysqlStore} takes: a pool, or its connection's type by name. Anything else is refused in one line. */
export type MysqlDatabase<Given> = Given extends
  | MysqlPoolLike
  | TransactionProvider<infer _Tx, infer _Taken>
  ? Given
  : Given extends MysqlQueryable &
        (MysqlConnectionLike | (MysqlQueryable extends Given ? unknown : never))
    ? MysqlPoolLike<NoInfer<Given>>
    : 'a Pool of mysql2/promise (of mysql2: its promise()), or an ORM by its from… function';

/** The `tx` of each. */
export type MysqlTx<Given> =
  Given extends TransactionProvider<infer Tx, infer _Taken>
    ? Tx
    : Given extends MysqlPoolLike
      ? MysqlTransactionOf<Given>
      : Given;

/** @throws {InvalidOptionError} when `pool` is neither a promise pool of mysql2 nor a provider */
export function assertPool(pool: unknown): void {
  if (isProvider(pool)) return;
  const toPass = toPassFor(pool);
  if (toPass !== undefined) throw invalidPool('an ORM', `Pass ${toPass}, exported beside it`);
  const [, name, remedy] = OTHERS.find(([methods]) => hasMethods(pool, methods)) ?? [];
  if (name !== undefined) throw invalidPool(name, remedy);
  if (!hasMethods(pool, ['getConnection'])) throw invalidPool(describeValue(pool));
}

/** @throws {InvalidOptionError} when the result of `getConnection()` is not a pool's connection */
export function assertConnection(connection: unknown): void {
  // A callback pool does not return a promise.
  if (hasMethods(connection, ['query', 'release', 'destroy', 'on', 'removeListener'])) return;
  throw invalidPool('something whose getConnection() does not return a connection with query');
}

/** Objects mistaken for a pool: the methods that identify each, its name, and the remedy. The first match counts. */
const OTHERS: readonly (readonly [methods: readonly string[], name: string, remedy: string])[] = [
  // Connections of a cluster may reach different servers, which do not share locks.
  [['of', 'add', 'getConnection'], 'a PoolCluster', 'Pass one pool'],
  [['promise', 'getConnection'], 'a pool with callbacks', 'Pass pool.promise()'],
  [
    ['getConnection', 'importFile'],
    'a pool of the mariadb package',
    'Use mysql2, which also connects to MariaDB',
  ],
];

function invalidPool(
  received: string,
  remedy = "Each transaction needs its own connection: mysql.createPool(…) of 'mysql2/promise'",
): InvalidOptionError {
  return new InvalidOptionError(
    'database',
    `database must be a Pool of mysql2/promise, pool.promise() of one of mysql2, or an ORM by its from… function; received ${received}. ${remedy}`,
  );
}

type OnLost = (error?: Error) => void;

/** Takes a connection from the pool, and attaches `onLost` immediately. */
export async function takeConnection<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  onLost: OnLost,
  loss: Pick<Loss, 'reason'>,
): Promise<Tx & MysqlConnectionLike> {
  try {
    const connection = await pool.getConnection();
    assertConnection(connection);
    // A request to the pool can't be cancelled, so a late connection must be released.
    if (loss.reason !== undefined) connection.release();
    else {
      // An `error` event without a listener ends the process.
      const emitter = emitterOf(connection);
      emitter.on('error', onLost);
      emitter.on('end', onLost);
    }
    return connection;
  } catch (error) {
    throw failures.noConnection(error);
  }
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
