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
import { toStoredName } from '../../../src/store/stored-name.js';
import type { ClientKind } from '../../inbox/redis/clients.js';
import type { SqliteDriver } from '../../inbox/sqlite/open-database.js';
import { inDatabase } from '../../services/mysql-url.js';
import type { StoreUnderTest } from './store.js';

/** A store that holds connections until it is ended. */
export type ConnectedStore = StoreUnderTest & { end(): Promise<void> };

const FAR_FUTURE = new Date('2999-01-01T00:00:00Z');
const FAR_PAST = new Date('1971-01-01T00:00:00Z');

// Longer than any history: claims end by what the histories do, not by time.
const LEASE_MS = 600_000;

/** Two connections of one kind; a claim is made to expire by writing so into Redis. */
export async function openRedisStore(kind: ClientKind, url: string): Promise<ConnectedStore> {
  const run = `inbox-fuzz-${randomUUID()}:`;
  const admin = new Redis(url);
  const clients = [await kind.connect(url), await kind.connect(url)];
  return {
    name: `Redis, ${kind.name}`,
    busyFirst: false,
    concurrent: true,
    death: 'expires',
    async create(namespace) {
      const prefix = `${run}${namespace}:`;
      return {
        inboxes: clients.map(({ client }) => redisStore(client, { prefix, leaseMs: LEASE_MS })),
        async kill({ referenceNumber }) {
          await admin.hset(`${prefix}{${toStoredName(referenceNumber)}}`, { until: 0 });
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

/** Two connections to one file; a claim expires as the clock of both moves on. */
export function openSqliteStore(driver: SqliteDriver): ConnectedStore {
  const folder = mkdtempSync(join(tmpdir(), 'inbox-fuzz-'));
  const databases = [driver.open(join(folder, 'inbox.db')), driver.open(join(folder, 'inbox.db'))];
  // A test's crash loses nothing, and the disk is what takes the time.
  for (const database of databases) database.exec('PRAGMA synchronous = OFF');
  let tables = 0;
  return {
    name: driver.name,
    busyFirst: false,
    concurrent: true,
    death: 'expires',
    prunes: 'not in work',
    async create() {
      tables += 1;
      const prefix = `fuzz_${tables}_`;
      const inboxes = databases.map((database) =>
        sqliteStore(database, { prefix, leaseMs: LEASE_MS, now: () => 0 }),
      );
      const [first] = inboxes;
      const [database] = databases;
      first?.setup();
      return {
        inboxes,
        async kill({ referenceNumber }) {
          database
            ?.prepare(`UPDATE ${prefix}payments SET owner_until_ms = 0 WHERE reference = ?`)
            .run(toStoredName(referenceNumber));
        },
        pruneAll: async () => void first?.prune(FAR_FUTURE),
        pruneNothing: async () => void first?.prune(new Date(0)),
        async close() {
          for (const table of ['payments', 'events']) {
            database?.exec(`DROP TABLE ${prefix}${table}`);
          }
        },
      };
    },
    async end() {
      for (const database of databases) database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Uses a separate schema; a holder dies when the server ends its connection. */
export async function openPostgresStore(connectionString: string): Promise<ConnectedStore> {
  const schema = `inbox_fuzz_${randomUUID().replaceAll('-', '')}`;
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
  // How long a delivery waits for another of its payment before it is `busy`.
  const inbox = postgresStore(pool, { lockTimeoutMs: 5 });
  await inbox.setup();
  await admin.query('CREATE TABLE effects (key text, pid int DEFAULT pg_backend_pid())');
  return {
    name: 'Postgres, pg',
    busyFirst: true,
    concurrent: true,
    death: 'dropped',
    prunes: 'all',
    async create() {
      await admin.query(
        'DELETE FROM payment_store_events; DELETE FROM payment_store_payments; DELETE FROM effects',
      );
      const pids = new Map<string, number>();
      return {
        inboxes: [inbox],
        async kill({ referenceNumber }) {
          await admin.query('SELECT pg_terminate_backend($1, 5000)', [pids.get(referenceNumber)]);
        },
        pruneAll: async () => void (await inbox.prune(FAR_FUTURE)),
        pruneNothing: async () => void (await inbox.prune(FAR_PAST)),
        async writeEffect({ tx }, { key, referenceNumber }) {
          const { rows } = await (tx as pg.PoolClient).query(
            'INSERT INTO effects VALUES ($1) RETURNING pid',
            [key],
          );
          pids.set(referenceNumber, rows[0].pid);
        },
        async readEffects() {
          const { rows } = await admin.query<{ key: string }>('SELECT key FROM effects');
          return rows.map(({ key }) => key);
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

/** Uses a separate database; a holder dies when the server ends its connection. */
export async function openMysqlStore(uri: string): Promise<ConnectedStore> {
  const database = `inbox_fuzz_${randomUUID().replaceAll('-', '')}`;
  const admin = mysql.createPool({ uri, connectionLimit: 1 });
  await admin.query(`CREATE DATABASE ${database}`);
  const pool = mysql.createPool({ uri: inDatabase(uri, database), connectionLimit: 12 });
  // How long a delivery waits for another of its payment before it is `busy`.
  const inbox = mysqlStore(pool, { lockTimeoutMs: 5 });
  await inbox.setup();
  await admin.query(`CREATE TABLE ${database}.effects (\`key\` text)`);
  return {
    name: 'MySQL or MariaDB, mysql2',
    busyFirst: true,
    concurrent: true,
    death: 'dropped',
    prunes: 'not what works have seen',
    async create() {
      for (const table of ['payment_store_events', 'effects']) {
        await admin.query(`DELETE FROM ${database}.${table}`);
      }
      const ids = new Map<string, number>();
      return {
        inboxes: [inbox],
        async kill({ referenceNumber }) {
          await admin.query(`KILL ${ids.get(referenceNumber)}`);
        },
        pruneAll: async () => void (await inbox.prune(FAR_FUTURE)),
        pruneNothing: async () => void (await inbox.prune(FAR_PAST)),
        async writeEffect({ tx }, { key, referenceNumber }) {
          const connection = tx as PoolConnection;
          await connection.query('INSERT INTO effects VALUES (?)', [key]);
          ids.set(referenceNumber, connection.threadId);
        },
        async readEffects() {
          const [rows] = await admin.query(`SELECT \`key\` FROM ${database}.effects`);
          return (rows as { key: string }[]).map(({ key }) => key);
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
