import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { describeOrm, ORMS_ON_POSTGRES } from '../providers/orms.js';
import { hasMethods, isProvider } from '../providers/provider.js';

/** What the merchant's work writes through: `pg`'s PoolClient and PGlite's Transaction both are one. */
export interface Queryable {
  /**
   * Runs one statement.
   *
   * @param text - SQL, with `$1`, `$2` in the place of values
   * @param values - what stands in their place
   */
  query<Row = Record<string, unknown>>(
    text: string,
    values?: unknown[],
  ): Promise<{
    /** What the statement gave; empty when it gives nothing. */
    rows: Row[];
  }>;
}

/** What a pool of `pg` gives besides a {@link Queryable}. */
export interface PgClientLike {
  /** Gives the connection back; with an error it is closed instead of used again. */
  release(error?: Error): void;
  /** Listens for the loss of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Listens no more. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A `Pool` of `pg`, or one that is like it. */
export interface PgPoolLike<Tx extends Queryable = Queryable> {
  /** Takes a connection. One that takes a callback (`length` of 1), as pg's does, is given one. */
  connect(): Promise<Tx & PgClientLike>;
}

/** What a transaction of PGlite has besides a {@link Queryable}. */
export interface PgliteTransactionLike {
  /** Runs several statements. */
  exec(sql: string): Promise<
    {
      /** What one of the statements gave. */
      rows: Record<string, unknown>[];
    }[]
  >;
  /** Ends the transaction with nothing done. */
  rollback(): Promise<void>;
  /** Whether it has ended. */
  readonly closed: boolean;
}

/** A `PGlite`. */
export interface PgliteLike<Tx extends Queryable = Queryable> {
  /** Runs `body` in a transaction. */
  transaction<Result>(body: (tx: Tx & PgliteTransactionLike) => Promise<Result>): Promise<Result>;
}

/** What the promise of one of two overloads of `connect()` gives, or that of the only one. */
type ConnectedBy<Connect> = Connect extends {
  (...args: never): infer First;
  (...args: never): infer Last;
}
  ? unknown extends First
    ? Awaited<Last>
    : Awaited<Exclude<First | Last, void>>
  : never;

/** What `work` writes through: the client that a pool gives, or PGlite's transaction. */
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

/** Tells PGlite, which has no connections to take, from a pool. */
export function isPglite<Tx extends Queryable>(
  pool: PgPoolLike<Tx> | PgliteLike<Tx>,
): pool is PgliteLike<Tx> {
  return hasMethods(pool, ['transaction', 'query', 'exec']);
}

/** @throws {InvalidOptionError} when `pool` is neither a pool, nor PGlite, nor a provider */
export function assertPool(pool: unknown): void {
  if (isProvider(pool)) {
    const { orm, engine = 'postgres' } = pool;
    if (engine === 'postgres') return;
    throw invalidPool(`${orm} on ${engine}`, 'Take the inbox and the outbox of that database');
  }
  // Some have a connect() as well, which would be noticed at the first query only.
  const orm = describeOrm(pool, ORMS_ON_POSTGRES);
  if (orm !== undefined) throw invalidPool(orm.name, `Pass ${orm.by}, exported beside it`);
  // Only a client of pg escapes: a pool has no connection to ask.
  if (hasMethods(pool, ['connect', 'escapeIdentifier'])) throw invalidPool('a single client');
  if (hasMethods(pool, ['transaction', 'query', 'exec']) || hasMethods(pool, ['connect'])) return;
  throw invalidPool(describeValue(pool));
}

/** @throws {InvalidOptionError} when what `connect()` gave is not a pool's client */
export function assertClient(client: unknown): void {
  if (hasMethods(client, ['query', 'release', 'on', 'removeListener'])) return;
  throw invalidPool(`something whose connect() does not give a client with query and release`);
}

function invalidPool(
  received: string,
  remedy = 'Each transaction needs a connection to itself: new pg.Pool({ connectionString })',
): InvalidOptionError {
  return new InvalidOptionError(
    'pool',
    `pool must be a Pool of pg, a PGlite, or an ORM by its from… function; received ${received}. ${remedy}`,
  );
}
