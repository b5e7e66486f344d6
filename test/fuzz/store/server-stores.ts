import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mysql, { type PoolConnection } from 'mysql2/promise';
import pg from 'pg';
import { mysqlStore } from '../../../src/mysql/mysql-store.js';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { redisStore } from '../../../src/redis/redis-store.js';
import { sqliteStore } from '../../../src/sqlite/sqlite-store.js';
import { databaseForms } from '../../../src/store/sql/stored-forms.js';
import type { ClientKind } from '../../redis/clients.js';
import { inDatabase } from '../../services/mysql-url.js';
import type { OpenDatabase, SqliteDriver } from '../../sqlite/open-database.js';
import { nameOf } from './deliveries.js';
import { client, type StoreUnderTest } from './store.js';

/** A store that holds connections until it is ended. */
export type ConnectedStore = StoreUnderTest & { end(): Promise<void> };

const TABLES = ['payments', 'changes', 'failed_changes', 'second_payments'];

// Longer than any history: claims end by what the histories do, not by time.
const LEASE_MS = 600_000;

/** Two connections of one kind; a claim is made to expire by writing so into Redis. */
export async function openRedisStore(kind: ClientKind, url: string): Promise<ConnectedStore> {
  const run = `store-fuzz-${randomUUID()}:`;
  const admin = new Redis(url);
  const clients = [await kind.connect(url), await kind.connect(url)];
  return {
    name: `Redis, ${kind.name}`,
    busyFirst: false,
    keeps: false,
    concurrent: true,
    death: 'expires',
    async create(namespace) {
      const prefix = `${run}${namespace}:`;
      return {
        stores: clients.map((one) => redisStore(one.client, { prefix, leaseMs: LEASE_MS })),
        async kill({ order }) {
          await admin.hset(`${prefix}{${databaseForms.toName(order)}}`, { until: 0 });
        },
        async close() {
          const keys = await admin.keys(`${prefix}*`);
          if (keys.length > 0) await admin.unlink(...keys);
        },
      };
    },
    async end() {
      for (const { close } of clients) close();
      admin.disconnect();
    },
  };
}

/** Two connections to one file, and a clock that stands still. */
export function openSqliteStore(driver: SqliteDriver): ConnectedStore {
  const folder = mkdtempSync(join(tmpdir(), 'store-fuzz-'));
  const open = (): OpenDatabase => {
    const database = driver.open(join(folder, 'shop.db'));
    // A test's crash loses nothing, and the disk is what takes the time.
    database.exec('PRAGMA synchronous = OFF');
    return database;
  };
  const admin = open();
  const databases = [admin, open()];
  let count = 0;
  return {
    name: driver.name,
    busyFirst: false,
    keeps: true,
    concurrent: true,
    death: 'expires',
    async create() {
      count += 1;
      const prefix = `fuzz_${count}_`;
      const stores = databases.map((database) =>
        sqliteStore(database, { prefix, client, leaseMs: LEASE_MS, now: () => 1_000 }),
      );
      const [payments] = stores;
      await payments?.setup();
      return {
        stores,
        payments,
        async kill({ order }) {
          admin
            .prepare(`UPDATE ${prefix}claims SET until_ms = 0 WHERE merchant_payment_reference = ?`)
            .run(databaseForms.toName(order));
        },
        async close() {
          for (const table of [...TABLES, 'claims']) admin.exec(`DROP TABLE ${prefix}${table}`);
        },
      };
    },
    async end() {
      for (const database of databases) database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Uses a separate schema; a transaction is lost when the server ends its connection. */
export async function openPostgresStore(connectionString: string): Promise<ConnectedStore> {
  const schema = `store_fuzz_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Pool({ connectionString, max: 1, options: `-c search_path=${schema}` });
  await admin.query(`CREATE SCHEMA ${schema}`);
  const pool = new pg.Pool({
    connectionString,
    application_name: schema,
    max: 12,
    options: `-c search_path=${schema} -c synchronous_commit=off`,
  });
  // Histories end connections.
  pool.on('error', () => undefined);
  // How long a delivery waits for another of its order before it is `busy`.
  const store = postgresStore(pool, { lockTimeoutMs: 5, client });
  await store.setup();
  await admin.query('CREATE TABLE effects (name text, pid int DEFAULT pg_backend_pid())');
  const tables = [...TABLES.map((table) => `payment_store_${table}`), 'effects'].join(', ');
  return {
    name: 'Postgres, pg',
    busyFirst: true,
    knowsDuplicates: true,
    keeps: true,
    concurrent: true,
    death: 'lost',
    async create() {
      await admin.query(`TRUNCATE ${tables}`);
      const pids = new Map<string, number>();
      return {
        stores: [store],
        payments: store,
        async kill({ order }) {
          await admin.query('SELECT pg_terminate_backend($1, 5000)', [pids.get(order)]);
        },
        async writeEffect({ tx }, delivery) {
          const { rows } = await (tx as pg.PoolClient).query(
            'INSERT INTO effects VALUES ($1) RETURNING pid',
            [nameOf(delivery)],
          );
          pids.set(delivery.order, rows[0].pid);
        },
        async readEffects() {
          const { rows } = await admin.query<{ name: string }>('SELECT name FROM effects');
          return rows.map(({ name }) => name);
        },
      };
    },
    async end() {
      await pool.end();
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.end();
    },
  };
}

/** Uses a separate database; a transaction is lost when the server ends its connection. */
export async function openMysqlStore(uri: string): Promise<ConnectedStore> {
  const database = `store_fuzz_${randomUUID().replaceAll('-', '')}`;
  const admin = mysql.createPool({ uri, connectionLimit: 1 });
  await admin.query(`CREATE DATABASE ${database}`);
  const pool = mysql.createPool({ uri: inDatabase(uri, database), connectionLimit: 12 });
  // As above, but MariaDB counts the whole statement, which may take its time on a loaded machine.
  const store = mysqlStore(pool, { lockTimeoutMs: 50, client });
  await store.setup();
  await admin.query(`CREATE TABLE ${database}.effects (name text)`);
  const tables = [...TABLES.map((table) => `payment_store_${table}`), 'effects'];
  return {
    name: 'MySQL or MariaDB, mysql2',
    busyFirst: true,
    keeps: true,
    concurrent: true,
    death: 'lost',
    async create() {
      for (const table of tables) await admin.query(`DELETE FROM ${database}.${table}`);
      const ids = new Map<string, number>();
      return {
        stores: [store],
        payments: store,
        async kill({ order }) {
          await admin.query(`KILL ${ids.get(order)}`);
        },
        async writeEffect({ tx }, delivery) {
          const connection = tx as PoolConnection;
          await connection.query('INSERT INTO effects VALUES (?)', [nameOf(delivery)]);
          ids.set(delivery.order, connection.threadId);
        },
        async readEffects() {
          const [rows] = await admin.query(`SELECT name FROM ${database}.effects`);
          return (rows as { name: string }[]).map(({ name }) => name);
        },
      };
    },
    async end() {
      await pool.end();
      await admin.query(`DROP DATABASE ${database}`);
      await admin.end();
    },
  };
}
