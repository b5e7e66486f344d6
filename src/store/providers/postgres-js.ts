import { hasSettled, keepOffLost } from './keep-off-lost.js';
import {
  hasMethods,
  makeProvider,
  refuse,
  refuseKind,
  rowsOf,
  type TransactionProvider,
} from './provider.js';
import type { WorkEnd } from './work-end.js';

/** A client of postgres.js, which is also its pool. */
export interface PostgresJsLike<Tx> {
  /** Runs `body` in a transaction. */
  begin(options: string, body: (tx: Tx) => Promise<void>): Promise<unknown>;
  /** Runs a statement. */
  unsafe(sql: string): PromiseLike<unknown>;
}

const WANTED = {
  by: 'fromPostgresJs',
  option: 'sql',
  expected: 'a client of postgres.js, as returned by postgres(url)',
};

/**
 * Makes a store in Postgres use the transactions of postgres.js. `tx` is its own
 * `TransactionSql`; use `tx.savepoint()` for a savepoint. A statement that fails outside a savepoint fails
 * the transaction, even if your code catches the error.
 *
 * Stop the work when its signal aborts: a statement sent after the connection is lost throws where
 * nothing can catch it, and Node ends the process.
 *
 * @param sql - the result of `postgres(url)`
 * @throws {InvalidOptionError} when `sql` is not a client of postgres.js, or is a transaction
 */
export function fromPostgresJs<Tx>(sql: PostgresJsLike<Tx>): TransactionProvider<Tx> {
  if (hasMethods(sql, ['savepoint', 'unsafe'])) {
    refuseKind(WANTED, 'a transaction', 'pass the client itself');
  }
  if (!hasMethods(sql, ['begin', 'unsafe'])) refuse(WANTED, sql);
  return makeProvider<Tx>({
    orm: 'postgres.js',
    engine: 'postgres',
    database: sql,
    transaction: (body) =>
      keepOffLost((kept) => sql.begin('isolation level read committed read write', kept), body),
    isTransaction: (value) => hasMethods(value, ['savepoint', 'unsafe']),
    isLost: (tx) => hasSettled(tx as object),
    query: async (on, text) => rowsOf(await (on as Pick<typeof sql, 'unsafe'>).unsafe(text)),
    forWork: (tx, end) => postgresJsUntilOver(tx as object, end) as Tx,
  });
}

type Callable = (...args: unknown[]) => unknown;

/** The parts used of a query of postgres.js, which is sent by its handler when it is first awaited. */
interface PostgresJsQuery extends Promise<unknown> {
  handler: (query: PostgresJsQuery) => unknown;
  readonly reject: (error: unknown) => void;
}

/** A view of a transaction of postgres.js that refuses once the work has ended, nested transactions included. */
export function postgresJsUntilOver<Sql extends object>(sql: Sql, end: WorkEnd): Sql {
  const call = (method: Callable, args: unknown[]): unknown => {
    const made = method.apply(sql, args);
    if (isQuery(made)) return refuseLate(made, end);
    if (made instanceof Promise) end.follow(made);
    return made;
  };
  return new Proxy(sql, {
    apply: (target, _this, args) => call(target as unknown as Callable, args),
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        end.assertNotOver();
        if (name === 'savepoint') return savepoint(value as Callable, args, end);
        return call(value as Callable, args);
      };
    },
  });
}

function isQuery(made: unknown): made is PostgresJsQuery {
  const { handler, reject } = (made ?? {}) as Partial<PostgresJsQuery>;
  return typeof handler === 'function' && typeof reject === 'function';
}

function refuseLate(query: PostgresJsQuery, end: WorkEnd): PostgresJsQuery {
  const { handler } = query;
  query.handler = (sent) => {
    try {
      end.assertNotOver();
    } catch (error) {
      return sent.reject(error);
    }
    const answer = handler(sent);
    end.follow(sent);
    return answer;
  };
  return query;
}

/**
 * After the work, postgres.js must not hear that the nested transaction has ended: it would send ROLLBACK TO on a
 * connection that another transaction may have.
 */
function savepoint(method: Callable, args: unknown[], end: WorkEnd): Promise<unknown> {
  const body = args.at(-1) as (sql: object) => unknown;
  return new Promise((resolve, reject) => {
    const kept = async (inner: object): Promise<unknown> => {
      const running = Promise.resolve(body(postgresJsUntilOver(inner, end)));
      const isInTime = await running.then(
        () => !end.isOver,
        () => !end.isOver,
      );
      if (isInTime) return running;
      running.then(() => end.assertNotOver()).catch(reject);
      return new Promise(() => undefined);
    };
    (method(...args.slice(0, -1), kept) as Promise<unknown>).then(resolve, reject);
  });
}
