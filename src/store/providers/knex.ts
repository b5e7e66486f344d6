import {
  hasMethods,
  makeProvider,
  refuse,
  refuseKind,
  rowsOf,
  type TransactionProvider,
} from './provider.js';
import { untilOver, type WorkEnd } from './work-end.js';

/** A knex instance. */
export interface KnexLike<Tx> {
  /** Runs `body` in a transaction. */
  transaction(
    body: (tx: Tx) => Promise<void>,
    config?: {
      /** The isolation level. */
      isolationLevel?: 'read committed';
    },
  ): Promise<unknown>;
  /** Runs a statement. */
  raw(sql: string): PromiseLike<unknown>;
}

/** The parts used of knex's transaction. */
interface KnexTransaction {
  isCompleted(): boolean;
  readonly client: TransactionClient;
}

interface TransactionClient {
  acquireConnection(): Promise<object>;
  query(connection: object, query: unknown): Promise<unknown>;
  stream(connection: object, ...more: unknown[]): Promise<unknown>;
}

interface Raw extends PromiseLike<unknown> {
  connection(connection: object): PromiseLike<unknown>;
}

const WANTED = {
  by: 'fromKnex',
  option: 'knex',
  expected: "a knex instance, as returned by knex({ client: 'pg', … })",
};

/**
 * Makes a store use the transactions of knex. `tx` is knex's own
 * `Knex.Transaction`; a `tx.transaction()` in it is a savepoint.
 *
 * @param knex - the result of `knex({ client: 'pg', … })`
 * @throws {InvalidOptionError} when `knex` is not a knex instance, or is a transaction
 */
export function fromKnex<Tx>(knex: KnexLike<Tx>): TransactionProvider<Tx> {
  if (!hasMethods(knex, ['transaction', 'raw', 'queryBuilder'])) refuse(WANTED, knex);
  const { isTransaction, client } = knex as { isTransaction?: unknown; client?: KnexClient };
  if (isTransaction === true) refuseKind(WANTED, 'a transaction', 'pass the knex instance itself');
  const isPostgres = client?.dialect === 'postgresql';
  /** The connections of the transactions whose work has a view of them. */
  const connections = new WeakMap<object, object>();
  return makeProvider<Tx>({
    orm: 'knex',
    engine: isPostgres ? 'postgres' : client?.dialect,
    database: knex,
    transaction: (body) => knex.transaction(body, { isolationLevel: 'read committed' }),
    isTransaction: (value) => (value as { isTransaction?: unknown }).isTransaction === true,
    query: async (on, text) => {
      const sql = isPostgres ? withoutPlaceholders(text) : text;
      const raw = (on as Pick<typeof knex, 'raw'>).raw(sql) as Raw;
      const connection = connections.get(on as object);
      return rowsOf(await (connection === undefined ? raw : raw.connection(connection)));
    },
    connectionOf: (tx) => (tx as KnexTransaction).client.acquireConnection(),
    hasEnded: (tx) => (tx as KnexTransaction).isCompleted(),
    async forWork(tx, end) {
      const { client: ofTransaction } = tx as KnexTransaction;
      const connection = await ofTransaction.acquireConnection();
      connections.set(tx as object, connection);
      onView(ofTransaction, connection, end);
      // Not the same object, by which the store itself sends.
      return new Proxy(tx as object, {}) as Tx;
    },
  });
}

/**
 * Gives the work, and the transactions in it, a view of the connection that refuses once the work has ended. What ends
 * the transaction itself has the connection.
 */
function onView(client: TransactionClient, connection: object, end: WorkEnd): void {
  const { query, stream } = client;
  const view = untilOver(connection, end);
  const send = async (given: object, by: (on: object) => Promise<unknown>): Promise<unknown> => {
    if (given !== view) return by(given);
    end.assertNotOver();
    const running = by(connection);
    end.follow(running);
    return running;
  };
  client.acquireConnection = async () => view;
  client.query = (given, asked) => send(given, (on) => query(on, asked));
  client.stream = (given, ...more) => send(given, (on) => stream(on, ...more));
}

interface KnexClient {
  readonly dialect?: string;
}

const LITERAL = /E?'[^'\\]*(?:(?:''|\\(?:.|$))[^'\\]*)*(?:'|$)/gs;

/** Escapes the question marks in literals, which knex would read as placeholders. */
function withoutPlaceholders(text: string): string {
  if (!text.includes('?')) return text;
  return text.replaceAll(LITERAL, (literal) => {
    if (!literal.includes('?')) return literal;
    const escaped = literal.replaceAll('?', '\\x3f');
    return escaped.startsWith('E') ? escaped : `E${escaped}`;
  });
}
