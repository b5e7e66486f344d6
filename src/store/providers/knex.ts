import { makeProvider, rowsOf, type TransactionProvider } from './provider.js';
import type { WorkEnd } from './work-view.js';

/** A knex instance. */
export interface KnexLike<Tx> {
  /** Runs `body` in a transaction. */
  transaction(body: (tx: Tx) => Promise<void>, config?: object): Promise<unknown>;
  /** Runs a statement. */
  raw(sql: string): PromiseLike<unknown>;
}

const WANTED = {
  orm: 'knex',
  by: 'fromKnex',
  option: 'knex',
  expected: "a knex instance, as returned by knex({ client: 'pg', … })",
  methods: ['transaction', 'raw', 'queryBuilder'],
  isTransaction: (value: unknown) => (value as { isTransaction?: unknown }).isTransaction === true,
};

/**
 * Makes a store use the transactions of knex. `tx` is its own `Knex.Transaction`; a `tx.transaction()` in it is a savepoint.
 *
 * @param knex - the result of `knex({ client: 'pg', … })`
 * @throws {InvalidOptionError} when `knex` is not a knex instance, or is a transaction
 */
export function fromKnex<Tx>(knex: KnexLike<Tx>): TransactionProvider<Tx> {
  /** The connections of the transactions whose work has a view of them. */
  const connections = new WeakMap<object, object>();
  return makeProvider<Tx>(knex, WANTED, {
    transaction: (body) => knex.transaction(body, { isolationLevel: 'read committed' }),
    query: async (on, text) => {
      const raw = (on as Pick<typeof knex, 'raw'>).raw(text) as Raw;
      const connection = connections.get(on as object);
      return rowsOf(await (connection === undefined ? raw : raw.connection(connection)));
    },
    connectionOf: (tx) => (tx as KnexTransaction).client.acquireConnection(),
    async forWork(tx, end) {
      const { client: ofTransaction } = tx as KnexTransaction;
      const connection = await ofTransaction.acquireConnection();
      connections.set(tx as object, connection);
      lend(ofTransaction, connection, end);
      // Not the same object, by which the store itself sends.
      return new Proxy(tx as object, {}) as Tx;
    },
  });
}

interface TransactionClient {
  acquireConnection(): Promise<object>;
  releaseConnection(connection: object): Promise<unknown>;
  query(connection: object, query: unknown): Promise<unknown>;
  stream(connection: object, ...more: unknown[]): Promise<unknown>;
}

interface KnexTransaction {
  readonly client: TransactionClient;
}

interface Raw extends PromiseLike<unknown> {
  connection(connection: object): PromiseLike<unknown>;
}

/** Lends the work, and the transactions in it, the connection. What ends the transaction itself has the connection. */
function lend(client: TransactionClient, connection: object, end: WorkEnd): void {
  const { query, stream, releaseConnection } = client;
  /** The views that are lent, each with what ends the loan. */
  const loans = new WeakMap<object, () => void>();
  const send = async (given: object, by: (on: object) => Promise<unknown>): Promise<unknown> =>
    loans.has(given) ? end.run(() => by(connection)) : by(given);
  client.acquireConnection = async () => {
    end.assertNotOver();
    const loan = end.viewOf(connection);
    // Counted from here: the query is sent later.
    end.run(() => new Promise<void>((resolve) => loans.set(loan, resolve)));
    return loan;
  };
  client.releaseConnection = async (given) => {
    const endLoan = loans.get(given);
    return endLoan === undefined ? releaseConnection.call(client, given) : endLoan();
  };
  client.query = (given, asked) => send(given, (on) => query(on, asked));
  client.stream = (given, ...more) => send(given, (on) => stream(on, ...more));
}
