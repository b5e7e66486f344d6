import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import {
  hasMethods,
  isProvider,
  type TransactionProvider,
  toPassFor,
} from '../store/providers/provider.js';

/** What your work writes through: `pg`'s PoolClient and PGlite's Transaction both implement it. */
export interface Queryable {
  /**
   * Runs one statement.
   *
   * @param text - SQL with placeholders `$1`, `$2`
   * @param values - their values
   */
  query<Row = Record<string, unknown>>(
    text: string,
    values?: unknown[],
  ): Promise<{
    /** The rows of the result; empty if there are none. */
    rows: Row[];
  }>;
}

/** The methods of a client of `pg`'s pool besides those of a {@link Queryable}. */
export interface PgClientLike {
  /** Returns the connection to the pool; with an error, the pool closes it instead of reusing it. */
  release(error?: Error): void;
  /** Listens for the loss of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Stops listening. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A `Pool` of `pg`, or one with the same interface. */
export interface PgPoolLike<Tx extends Queryable = Queryable> {
  /** Takes a connection. If it accepts a callback (`length` is 1), as pg's does, it is called with one. */
  connect(): Promise<Tx & PgClientLike>;
}

/** The methods of a PGlite transaction besides those of a {@link Queryable}. */
export interface PgliteTransactionLike {
  /** Runs several statements. */
  exec(sql: string): Promise<
    {
      /** The rows of one statement's result. */
      rows: Record<string, unknown>[];
    }[]
  >;
  /** Rolls the transaction back. */
  rollback(): Promise<void>;
  /** Whether it has ended. */
  readonly closed: boolean;
}

/** A `PGlite`. */
export interface PgliteLike<Tx extends Queryable = Queryable> {
  /** Runs `body` in a transaction. */
  transaction<Result>(body: (tx: Tx & PgliteTransactionLike) => Promise<Result>): Promise<Result>;
}

/** The value of the promise of `connect()`, which may have two overloads. */
type ConnectedBy<Connect> = Connect extends {
  (...args: never): infer First;
  (...args: never): infer Last;
}
  ? unknown extends First
    ? Awaited<Last>
    : Awaited<Exclude<First | Last, void>>
  : never;

/** The type of `tx`: the client of a pool, or PGlite's transaction. */
export type TransactionOf<Pool> = (
  Pool extends {
    /** PGlite's. */
    transaction(body: (tx: infer Tx) => Promise<unknown>): unknown;
  }
    ? Tx
    : Pool extends {
          /** A pool's. */
          connect: infer Connect;
        }
      ? ConnectedBy<Connect>
      : never
) extends infer Tx extends Queryable
  ? Tx
  : Queryable;

type Pools = PgPoolLike | PgliteLike;
/** The type of a `tx`, which someone names. It is not that of a single client, or of an ORM that has `query` too. */
type NamedTx<Given> = Queryable &
  (PgClientLike | PgliteTransactionLike | (Queryable extends Given ? unknown : never));

/** What {@link postgresStore} takes: a pool, or its client's type by name. Anything else is refused in one line. */
export type PgDatabase<Given> = Given extends Pools | TransactionProvider<infer _Tx, infer _Taken>
  ? Given
  : Given extends NamedTx<Given>
    ? PgPoolLike<NoInfer<Given>> | PgliteLike<NoInfer<Given>>
    : 'a Pool of pg, which is no single client; a PGlite; or an ORM by its from… function';

/** The `tx` of each. */
export type PgTx<Given> =
  Given extends TransactionProvider<infer Tx, infer _Taken>
    ? Tx
    : Given extends Pools
      ? TransactionOf<Given>
      : Given;

/** Distinguishes a PGlite, which has no connections to take, from a pool. */
export function isPglite<Tx extends Queryable>(
  pool: PgPoolLike<Tx> | PgliteLike<Tx>,
): pool is PgliteLike<Tx> {
  return hasMethods(pool, ['transaction', 'query', 'exec']);
}

/** @throws {InvalidOptionError} when `pool` is neither a pool, nor PGlite, nor a provider */
export function assertPool(pool: unknown): void {
  if (isProvider(pool)) return;
  // Some ORMs have a connect() too, and would otherwise fail only at the first query.
  const toPass = toPassFor(pool);
  if (toPass !== undefined) throw invalidPool('an ORM', `Pass ${toPass}, exported beside it`);
  // Only a client of pg has escapeIdentifier; a pool does not.
  if (hasMethods(pool, ['connect', 'escapeIdentifier'])) throw invalidPool('a single client');
  if (hasMethods(pool, ['transaction', 'query', 'exec']) || hasMethods(pool, ['connect'])) return;
  throw invalidPool(describeValue(pool));
}

/** The state of the client's transaction. Undefined for an older pg, and for PGlite. */
export function statusOf(client: object): unknown {
  const { getTransactionStatus } = client as { getTransactionStatus?(): unknown };
  return getTransactionStatus?.call(client);
}

/** @throws {InvalidOptionError} when the result of `connect()` is not a pool's client */
export function assertClient(client: unknown): void {
  const { query, release, on, removeListener } = Object(client) as Queryable & PgClientLike;
  if ([query, release, on, removeListener].every((method) => typeof method === 'function')) return;
  throw invalidPool('something whose connect() does not return a client with query and release');
}

function invalidPool(
  received: string,
  remedy = 'Each transaction needs its own connection: new pg.Pool({ connectionString })',
): InvalidOptionError {
  return new InvalidOptionError(
    'database',
    `database must be a Pool of pg, a PGlite, or an ORM by its from… function; received ${received}. ${remedy}`,
  );
}
