import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const fromTests = createRequire(new URL('../test/package.json', import.meta.url));

/** The databases that are measured: where each is, and how a merchant writes to it by hand. */
export const ENGINES = {
  postgres: {
    name: 'Postgres',
    url: process.env.DATABASE_URL ?? `postgres://${userInfo().username}@127.0.0.1:5432/test`,
    missing: 'no Postgres at DATABASE_URL',
    async open(url, connections) {
      const { default: pg } = await import('pg');
      const { postgresStore } = await import('../dist/postgres/index.js');
      const pool = new pg.Pool({
        connectionString: url,
        max: connections,
        connectionTimeoutMillis: 2000,
      });
      return {
        openStore: (options) => postgresStore(pool, options),
        query: async (statement, values) => (await pool.query(statement, values)).rows,
        take: () => pool.connect(),
        countOf: ({ rowCount }) => rowCount,
        close: () => pool.end(),
      };
    },
    schema: 'current_schema()',
    byHand: 'BEGIN, INSERT … ON CONFLICT DO NOTHING, UPDATE, COMMIT',
    begin: 'BEGIN',
    keyType: 'text',
    insertUnlessThere: (into, values) =>
      `INSERT INTO ${into} VALUES ${values} ON CONFLICT DO NOTHING`,
    place: (position) => `$${position}`,
  },
  mysql: {
    name: 'MySQL',
    url: process.env.MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/test',
    missing: 'no server at MYSQL_URL',
    async open(url, connections) {
      const { default: mysql } = await import('mysql2/promise');
      const { mysqlStore } = await import('../dist/mysql/index.js');
      const pool = mysql.createPool({
        uri: url,
        connectionLimit: connections,
        connectTimeout: 2000,
      });
      return {
        openStore: (options) => mysqlStore(pool, options),
        query: async (statement, values) => (await pool.query(statement, values))[0],
        take: () => pool.getConnection(),
        countOf: ([{ affectedRows }]) => affectedRows,
        close: () => pool.end(),
      };
    },
    schema: 'DATABASE()',
    byHand: 'START TRANSACTION, INSERT IGNORE, UPDATE, COMMIT',
    begin: 'START TRANSACTION',
    keyType: 'varchar(128) COLLATE ascii_bin',
    insertUnlessThere: (into, values) => `INSERT IGNORE INTO ${into} VALUES ${values}`,
    place: () => '?',
  },
  /** In a file of its own; the driver is that of the tests. */
  sqlite: {
    name: 'SQLite',
    missing: 'better-sqlite3 is not installed in test',
    async open() {
      const { sqliteStore } = await import('../dist/sqlite/index.js');
      const Database = fromTests('better-sqlite3');
      const folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
      const database = new Database(join(folder, 'shop.db'));
      database.pragma('journal_mode = WAL');
      // As the store sets it.
      database.pragma('synchronous = FULL');
      const prepared = new Map();
      const prepare = (statement) => {
        if (!prepared.has(statement)) prepared.set(statement, database.prepare(statement));
        return prepared.get(statement);
      };
      return {
        openStore: (options) => sqliteStore(database, options),
        query: (statement, values = []) => prepare(statement).run(...values),
        close() {
          database.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
    insertUnlessThere: (into, values) => `INSERT OR IGNORE INTO ${into} VALUES ${values}`,
    place: () => '?',
  },
};

/** Whether the engine answers. */
export async function isThere({ open, url }) {
  try {
    const { query, close } = await open(url, 1);
    await query('CREATE TABLE IF NOT EXISTS mp_bench_answers (id int)');
    await query('DROP TABLE mp_bench_answers');
    await close();
    return true;
  } catch {
    return false;
  }
}
