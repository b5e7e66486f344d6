import type { PGlite } from '@electric-sql/pglite';

/** The Postgres of every pool, within this process. It can be switched off. */
export const database: { current: PGlite | undefined; isDown: boolean } = {
  current: undefined,
  isDown: false,
};

function connect(): PGlite {
  if (database.isDown || database.current === undefined) throw new Error('connect ECONNREFUSED');
  return database.current;
}

class Pool {
  on(): void {}
  exec = async (sql: string) => connect().exec(sql);
  query = async (sql: string, values?: unknown[]) => connect().query(sql, values);
  transaction = async (body: Parameters<PGlite['transaction']>[0]) => connect().transaction(body);
}

// In the place of the package `pg`.
export default { Pool };
