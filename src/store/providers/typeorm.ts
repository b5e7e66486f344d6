import { makeProvider, rowsOf, type TransactionProvider } from './provider.js';

/** A DataSource of TypeORM. */
export interface TypeOrmLike<Tx> {
  /** Runs `body` in a transaction. */
  transaction(isolationLevel: 'READ COMMITTED', body: (tx: Tx) => Promise<void>): Promise<unknown>;
  /** Runs a statement. */
  query(sql: string): Promise<unknown>;
}

/** The parts used of TypeORM's EntityManager. */
interface Manager {
  readonly queryRunner?: {
    readonly isTransactionActive: boolean;
    readonly broadcaster: object;
    connect(): Promise<object>;
    query(...args: unknown[]): Promise<unknown>;
  };
}

interface WithManagers<Tx> {
  createEntityManager(queryRunner: object): Tx;
}

const WANTED = {
  orm: 'TypeORM',
  by: 'fromTypeOrm',
  option: 'dataSource',
  expected: 'a DataSource of TypeORM',
  methods: ['transaction', 'query', 'createQueryRunner'],
  isTransaction: (value: unknown) => (value as Manager).queryRunner?.isTransactionActive === true,
};

/**
 * Makes a store use the transactions of a TypeORM DataSource. `tx` is TypeORM's own `EntityManager`; a `tx.transaction()` in
 * it, and the transaction of a `save()`, is a savepoint.
 *
 * @param dataSource - the DataSource; initialize it before the first use at the latest
 * @throws {InvalidOptionError} when `dataSource` is not a DataSource, or is a transaction
 */
export function fromTypeOrm<Tx>(dataSource: TypeOrmLike<Tx>): TransactionProvider<Tx> {
  return makeProvider<Tx>(dataSource, WANTED, {
    transaction: (body) => dataSource.transaction('READ COMMITTED', body),
    query: async (on, text) => rowsOf(await (on as Pick<typeof dataSource, 'query'>).query(text)),
    connectionOf: (tx) => (tx as Manager).queryRunner?.connect(),
    forWork: async (tx, end) => {
      const runner = (tx as Required<Manager>).queryRunner;
      const connection = end.viewOf(await runner.connect());
      const ofWork = Object.create(runner, {
        connect: { value: async () => connection },
        databaseConnection: { value: connection },
        // Counted from here: the query is sent later.
        query: {
          value: async (...args: unknown[]) => end.run(() => runner.query.apply(ofWork, args)),
        },
      });
      // Its subscribers write through the runner too.
      ofWork.broadcaster = Object.create(runner.broadcaster, { queryRunner: { value: ofWork } });
      return (dataSource as unknown as WithManagers<Tx>).createEntityManager(ofWork);
    },
  });
}
