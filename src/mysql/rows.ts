import { toError } from '../store/loss.js';
import type { MysqlQueryable } from './pool.js';

type Answered = (error: unknown, given?: unknown) => void;

interface WithCallbacks {
  readonly connection?: {
    readonly config?: { readonly typeCast?: unknown; readonly nestTables?: unknown };
    query?(query: object | string, answered: Answered): unknown;
  };
}

/** Sends one statement, independent of the pool's settings for results. */
export function send(tx: MysqlQueryable, sql: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    sendTo(tx, sql, (error, given) => (error ? reject(error) : resolve(given)));
  });
}

/**
 * The same with a callback. Uses the underlying callback connection if there is one, because the promise wrapper
 * captures a stack for each query.
 */
export function sendTo(tx: MysqlQueryable, sql: string, answered: Answered): void {
  const core = (tx as WithCallbacks).connection;
  if (typeof core?.query === 'function') {
    core.query(isPlain(core) ? sql : plainly(sql), answered);
    return;
  }
  tx.query(plainly(sql) as unknown as string)
    .then(([given]) => given)
    .then(
      (given) => answered(null, given),
      (error) => answered(toError(error)),
    );
}

/** Whether the connection returns texts unchanged. To request this per query costs the driver 5 µs. */
function isPlain({ config }: NonNullable<WithCallbacks['connection']>): boolean {
  return config?.typeCast === true && !config.nestTables;
}

function plainly(sql: string): object {
  return { sql, rowsAsArray: true, nestTables: false, typeCast: asIs };
}

// Without this, the pool's own typeCast would apply.
function asIs(_field: unknown, next: () => unknown): unknown {
  return next();
}

/** The rows in mysql2's answer. */
export function asRows(given: unknown): readonly object[] {
  return Array.isArray(given) ? given : [];
}

const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** The session's status, which is part of an answer without rows; otherwise undefined. */
export function statusOf(given: unknown) {
  // A CALL of the work returns a list that ends with such an answer.
  const last: unknown = Array.isArray(given) ? given.at(-1) : given;
  const { serverStatus } = (last ?? {}) as { serverStatus?: unknown };
  if (typeof serverStatus !== 'number') return undefined;
  return {
    isInTransaction: (serverStatus & IN_TRANSACTION) !== 0,
    isAutocommit: (serverStatus & AUTOCOMMIT) !== 0,
  };
}
