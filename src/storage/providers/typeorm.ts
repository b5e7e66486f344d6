import { hasMethods, makeProvider, refuse, rowsOf, type TransactionProvider } from './provider.js';

/** A DataSource of TypeORM. */
export interface TypeOrmLike<Tx> {
  /** Runs `body` in a transaction. */
  transaction(isolationLevel: 'READ COMMITTED', body: (tx: Tx) => Promise<void>): Promise<unknown>;
  /** Runs a statement. */
  query(sql: string): Promise<unknown>;
  /** How it was made. */
  readonly options: {
    /** The kind of its database. */
    readonly type: string;
  };
}

/** What is used of TypeORM's own EntityManager. */
interface Manager {
  readonly queryRunner?: {
    connect(): Promise<unknown>;
    readonly isTransactionActive: boolean;
  };
}

const WANTED = {
  by: 'fromTypeOrm',
  option: 'dataSource',
  expected: 'a DataSource of TypeORM',
};

const ENGINES = new Map([
  ['postgres', 'postgres'],
  ['aurora-postgres', 'postgres'],
  ['mysql', 'mysql'],
  ['mariadb', 'mysql'],
  ['aurora-mysql', 'mysql'],
]);

/**
 * The transactions of a DataSource of TypeORM, for `postgresInbox` and `postgresOutbox`. `tx` is
 * TypeORM's own `EntityManager`; a `tx.transaction()` in it, and what `save()` begins, is a savepoint.
 *
 * @param dataSource - the DataSource; it may be initialized later, before the first use
 * @throws {InvalidOptionError} when `dataSource` is none
 */
export function fromTypeOrm<Tx>(dataSource: TypeOrmLike<Tx>): TransactionProvider<Tx> {
  if (!hasMethods(dataSource, ['transaction', 'query', 'createQueryRunner'])) {
    refuse(WANTED, dataSource);
  }
  const { type } = dataSource.options;
  return makeProvider<Tx>({
    orm: 'TypeORM',
    engine: ENGINES.get(type) ?? type,
    database: dataSource,
    transaction: (body) => dataSource.transaction('READ COMMITTED', body),
    isTransaction: (value) => (value as Manager).queryRunner?.isTransactionActive === true,
    query: async (on, text) => rowsOf(await (on as Pick<typeof dataSource, 'query'>).query(text)),
    connectionOf: (tx) => (tx as Manager).queryRunner?.connect(),
    hasEnded: (tx) => (tx as Manager).queryRunner?.isTransactionActive === false,
  });
}
