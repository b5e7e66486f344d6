import {
  hasMethods,
  makeProvider,
  refuse,
  refuseKind,
  rowsOf,
  type TransactionProvider,
} from './provider.js';

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
  readonly client: { acquireConnection(): Promise<unknown> };
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
  return makeProvider<Tx>({
    orm: 'knex',
    engine: isPostgres ? 'postgres' : client?.dialect,
    database: knex,
    transaction: (body) => knex.transaction(body, { isolationLevel: 'read committed' }),
    isTransaction: (value) => (value as { isTransaction?: unknown }).isTransaction === true,
    query: async (on, text) => {
      const sql = isPostgres ? withoutPlaceholders(text) : text;
      return rowsOf(await (on as Pick<typeof knex, 'raw'>).raw(sql));
    },
    connectionOf: (tx) => (tx as KnexTransaction).client.acquireConnection(),
    hasEnded: (tx) => (tx as KnexTransaction).isCompleted(),
  });
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
