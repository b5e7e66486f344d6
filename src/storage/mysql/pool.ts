import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { describeOrm, ORMS_ON_MYSQL } from '../providers/orms.js';
import { hasMethods, isProvider } from '../providers/provider.js';

/** What the merchant's work writes through: the `PoolConnection` of `mysql2/promise` is one. */
export interface MysqlQueryable {
  /**
   * Runs one statement.
   *
   * @param sql - SQL, with `?` in the place of values
   * @param values - what stands in their place
   * @returns what the statement gave, and its columns
   */
  query(sql: string, values?: unknown[]): Promise<[unknown, unknown]>;
}

/** What a connection of a pool gives besides a {@link MysqlQueryable}. */
export interface MysqlConnectionLike {
  /** Gives the connection back. */
  release(): void;
  /** Closes it instead. */
  destroy(): void;
  /** Listens for the loss of the connection. */
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown;
  /** Listens no more. */
  removeListener(event: 'error' | 'end', listener: (error?: Error) => void): unknown;
}

/** A `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`. */
export interface MysqlPoolLike<Tx extends MysqlQueryable = MysqlQueryable> {
  /** Takes a connection. */
  getConnection(): Promise<Tx & MysqlConnectionLike>;
}

/** What `work` writes through: the connection that the pool gives. */
export type MysqlTransactionOf<Pool> = Pool extends {
  /** Takes a connection. */
  getConnection(): Promise<infer Tx extends MysqlQueryable>;
}
  ? Tx
  : MysqlQueryable;

/** @throws {InvalidOptionError} when `pool` is neither a promise pool of mysql2 nor a provider */
export function assertPool(pool: unknown): void {
  if (isProvider(pool)) {
    const { orm, engine = 'mysql' } = pool;
    if (engine === 'mysql') return;
    throw invalidPool(`${orm} on ${engine}`, 'Take the inbox and the outbox of that database');
  }
  const orm = describeOrm(pool, ORMS_ON_MYSQL);
  if (orm !== undefined) throw invalidPool(orm.name, `Pass ${orm.by}, exported beside it`);
  const other = OTHERS.find(({ has }) => hasMethods(pool, has));
  if (other !== undefined) throw invalidPool(other.name, other.remedy);
  if (!hasMethods(pool, ['getConnection'])) throw invalidPool(describeValue(pool));
}

/** @throws {InvalidOptionError} when what `getConnection()` gave is not a pool's connection */
export function assertConnection(connection: unknown): void {
  // The callback pool gives nothing by a promise.
  if (hasMethods(connection, ['query', 'release', 'destroy', 'on', 'removeListener'])) return;
  throw invalidPool('something whose getConnection() does not give a connection with query');
}

/** What is given in place of a pool, by what it alone has; the first that fits. */
const OTHERS: readonly {
  readonly has: readonly string[];
  readonly name: string;
  readonly remedy?: string;
}[] = [
  // Two connections of a cluster may be of two servers, which do not share locks.
  { has: ['of', 'add', 'getConnection'], name: 'a PoolCluster', remedy: 'Pass one pool' },
  {
    has: ['promise', 'getConnection'],
    name: 'a pool with callbacks',
    remedy: 'Pass pool.promise()',
  },
  { has: ['query', 'beginTransaction'], name: 'a single connection' },
  {
    has: ['getConnection', 'importFile'],
    name: 'a pool of the mariadb package',
    remedy: 'Use mysql2, which connects to MariaDB as well',
  },
];

function invalidPool(
  received: string,
  remedy = "Each transaction needs a connection to itself: mysql.createPool(…) of 'mysql2/promise'",
): InvalidOptionError {
  return new InvalidOptionError(
    'pool',
    `pool must be a Pool of mysql2/promise, pool.promise() of one of mysql2, or an ORM by its from… function; received ${received}. ${remedy}`,
  );
}
