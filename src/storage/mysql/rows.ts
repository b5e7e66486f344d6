import { InboxError } from '../../errors.js';
import { toError } from '../loss.js';
import type { Row } from '../runner.js';
import type { MysqlQueryable } from './pool.js';

type Answered = (error: unknown, given?: unknown) => void;

interface WithCallbacks {
  readonly connection?: {
    readonly config?: { readonly typeCast?: unknown; readonly nestTables?: unknown };
    query?(query: object | string, answered: Answered): unknown;
  };
}

/** Sends one statement, whatever the pool is set to. */
export function send(tx: MysqlQueryable, sql: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    sendTo(tx, sql, (error, given) => (error ? reject(error) : resolve(given)));
  });
}

/** The same with a callback. By the connection with callbacks, where there is one: the other takes a stack for each query. */
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

/** Whether texts are read as they are. To say so with a query costs the driver 5 µs. */
function isPlain({ config }: NonNullable<WithCallbacks['connection']>): boolean {
  return config?.typeCast === true && !config.nestTables;
}

function plainly(sql: string): object {
  return { sql, rowsAsArray: true, nestTables: false, typeCast: asIs };
}

// The pool's own holds unless a query has one.
function asIs(_field: unknown, next: () => unknown): unknown {
  return next();
}

/** The rows in the answer of mysql2 to a statement, of its first result. */
export function asRows(given: unknown): readonly Row[] {
  if (!Array.isArray(given)) return [];
  const isCall = Array.isArray(given[0]) && !Array.isArray(given.at(-1));
  const rows: unknown = isCall ? given[0] : given;
  return Array.isArray(rows) ? rows : [];
}

/**
 * The text that each row has.
 *
 * @throws {InboxError} `STORE_FAILED` when it is none
 */
export function textsOf(rows: readonly Row[]): readonly string[] {
  return rows.map((row) => {
    const text: unknown = Object.values(row ?? {})[0];
    if (typeof text === 'string') return text;
    throw changedAnswer();
  });
}

/** The error for a pool that hides what the database answered. */
export function changedAnswer(): InboxError {
  return new InboxError(
    'STORE_FAILED',
    'The pool does not give the text that the database answered, so nothing was processed; look for a wrapper of the pool, or an extension of the ORM, that changes what queries return',
  );
}

const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** What the server says of the session with an answer of mysql2; undefined with rows, where it does not. */
export function statusOf(given: unknown) {
  // A CALL gives a list that ends with such an answer.
  const last: unknown = Array.isArray(given) ? given.at(-1) : given;
  const { serverStatus } = (last ?? {}) as { serverStatus?: unknown };
  if (typeof serverStatus !== 'number') return undefined;
  return {
    isInTransaction: (serverStatus & IN_TRANSACTION) !== 0,
    isAutocommit: (serverStatus & AUTOCOMMIT) !== 0,
  };
}
