import mysql, { type Pool as MysqlPool } from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { ManagedStore } from '../../src/store/callback-store.js';
import { inDatabase } from '../services/mysql-url.js';
import { drivers } from '../sqlite/open-database.js';
import { Shop } from './shop.js';
import { type Story, storiesOf, tales } from './stories.js';

const { DATABASE_URL = '', MYSQL_URL = '', MORE_STEPS = '0' } = process.env;
const NAME = `stories_${process.pid}`;
const TABLES = ['payments', 'changes', 'failed_changes', 'second_payments'];

/** A database of its own. */
interface Engine {
  open(options: object): unknown;
  run(sql: string): unknown;
  close(): unknown;
}

const engines: Readonly<Record<string, { isThere: boolean; start(): Engine | Promise<Engine> }>> = {
  SQLite: {
    isThere: true,
    start() {
      const database = (drivers[0] as (typeof drivers)[0]).open(':memory:');
      return {
        open: (options) => sqliteStore(database, options),
        run: (sql) => database.exec(sql),
        close: () => database.close(),
      };
    },
  },
  Postgres: {
    isThere: DATABASE_URL !== '',
    async start() {
      const options = `-c search_path=${NAME} -c synchronous_commit=off`;
      const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 2, options });
      await pool.query(`CREATE SCHEMA ${NAME}`);
      return {
        open: (given) => postgresStore(pool, given),
        run: (sql) => pool.query(sql),
        async close() {
          await pool.query(`DROP SCHEMA ${NAME} CASCADE`);
          await pool.end();
        },
      };
    },
  },
  'MySQL or MariaDB': {
    isThere: MYSQL_URL !== '',
    async start() {
      const admin = await mysql.createConnection(MYSQL_URL);
      await admin.query(`CREATE DATABASE ${NAME}`);
      const uri = inDatabase(MYSQL_URL, NAME);
      const pool: MysqlPool = mysql.createPool({ uri, connectionLimit: 2 });
      return {
        open: (options) => mysqlStore(pool, options),
        run: (sql) => pool.query(sql),
        async close() {
          await pool.end();
          await admin.query(`DROP DATABASE ${NAME}`);
          await admin.end();
        },
      };
    },
  },
};

describe('every short story of an order', async () => {
  const told = Object.entries(tales).map(([, tale]) => storiesOf(tale, Number(MORE_STEPS)));
  const stories = (await Promise.all(told)).flat();

  it('comes to every state', () => {
    const text = JSON.stringify(stories);
    for (const state of ['created', 'rejected', 'unresolved']) {
      expect(text).toContain(`"state":"${state}"`);
    }
    for (const kind of ['second-payment', 'failed-change', 'no-callback']) {
      expect(text).toContain(`"kind":"${kind}"`);
    }
    expect(text).toContain('"replacedBy"');
  });

  const there = Object.entries(engines).filter(([, { isThere }]) => isThere);
  it.each(there)('ends on %s as in memory', async (_name, { start }) => {
    const engine = await start();
    try {
      await (engine.open({}) as ManagedStore).setup();
      const compared = new Set<string>();
      for (const story of stories) {
        for (const table of TABLES) await engine.run(`DELETE FROM payment_store_${table}`);
        const shop = new Shop((client) => engine.open({ client, declined: ['declined'] }) as never);
        await replay(shop, story, compared);
      }
    } finally {
      await engine.close();
    }
  });
});

async function replay(shop: Shop, { steps, seen }: Story, compared: Set<string>): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const path = steps.slice(0, index + 1).join(', ');
    expect(await shop.take(step), path).toEqual(seen[index]?.answer);
    if (compared.has(path)) continue;
    compared.add(path);
    expect(await shop.look(), path).toEqual(seen[index]?.shows);
  }
}
