import {
  hasMethods,
  makeProvider,
  refuse,
  refuseKind,
  rowsOf,
  type TransactionProvider,
} from './provider.js';

/** A client of postgres.js, which is its pool. */
export interface PostgresJsLike<Tx> {
  /** Runs `body` in a transaction. */
  begin(options: string, body: (tx: Tx) => Promise<void>): Promise<unknown>;
  /** Runs a statement. */
  unsafe(sql: string): PromiseLike<unknown>;
}

const WANTED = {
  by: 'fromPostgresJs',
  option: 'sql',
  expected: 'a client of postgres.js, as postgres(url) gives it',
};

/**
 * The transactions of postgres.js, for `postgresInbox` and `postgresOutbox`. `tx` is its own
 * `TransactionSql`; a `tx.savepoint()` in it is a savepoint. A statement that fails outside of one fails
 * the transaction, even if your code catches the error.
 *
 * Stop the work when its signal aborts: a statement that is sent when the connection is lost throws where
 * nothing can catch it, and Node ends the process.
 *
 * @param sql - what `postgres(url)` gives
 * @throws {InvalidOptionError} when `sql` is no client of postgres.js, or a transaction
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
    rejectsOnLoss: true,
    transaction: (body) => sql.begin('isolation level read committed read write', body),
    isTransaction: (value) => hasMethods(value, ['savepoint', 'unsafe']),
    query: async (on, text) => rowsOf(await (on as Pick<typeof sql, 'unsafe'>).unsafe(text)),
  });
}
