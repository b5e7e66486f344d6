import { hasMethods, makeProvider, rowsOf, type TransactionProvider } from './provider.js';

/** A client of postgres.js, which is also its pool. */
export interface PostgresJsLike<Tx> {
  /** Runs `body` in a transaction. */
  begin(options: string, body: (tx: Tx) => Promise<void>): Promise<unknown>;
  /** Runs a statement. */
  unsafe(sql: string): PromiseLike<unknown>;
}

const WANTED = {
  orm: 'postgres.js',
  by: 'fromPostgresJs',
  option: 'sql',
  expected: 'a client of postgres.js, as returned by postgres(url)',
  methods: ['begin', 'unsafe'],
  isTransaction: (value: unknown) => hasMethods(value, ['savepoint', 'unsafe']),
};

/**
 * Makes a store in Postgres use the transactions of postgres.js. `tx` is its own `TransactionSql`: a statement that fails
 * outside a `tx.savepoint()` fails the transaction, even if your code catches the error. Stop the work when its signal
 * aborts: a statement sent after the connection is lost throws where nothing can catch it, and Node ends the process.
 *
 * @param sql - the result of `postgres(url)`
 * @throws {InvalidOptionError} when `sql` is not a client of postgres.js, or is a transaction
 */
export function fromPostgresJs<Tx>(sql: PostgresJsLike<Tx>): TransactionProvider<Tx> {
  return makeProvider<Tx>(sql, WANTED, {
    transaction: (body) => sql.begin('isolation level read committed read write', body),
    query: async (on, text) => rowsOf(await (on as Pick<typeof sql, 'unsafe'>).unsafe(text)),
    forWork: (tx, end) => end.viewOf(tx as object) as Tx,
  });
}
