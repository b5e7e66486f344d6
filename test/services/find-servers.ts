import { userInfo } from 'node:os';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { hasMariadb, startMariadb } from './start-mariadb.js';
import { hasPostgres, startPostgres } from './start-postgres.js';
import { hasRedis, startRedis } from './start-redis.js';

/** A server that answers. */
export interface FoundServer {
  readonly url: string;
  /** How it was found, for people to read. */
  readonly source: string;
  /** Ends it, if it was started here. */
  readonly stop?: () => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 2_000;

/** By DATABASE_URL, on the usual port of this machine, or started here; undefined when there is none. */
export async function findPostgres(): Promise<FoundServer | undefined> {
  const given = process.env['DATABASE_URL'];
  if (given) {
    await answersAsPostgres(given).catch((error) => {
      throw new Error('DATABASE_URL is set, but no Postgres answers there', { cause: error });
    });
    return { url: given, source: 'that of DATABASE_URL' };
  }
  const me = userInfo().username;
  for (const [user, database] of [
    [me, 'test'],
    [me, 'postgres'],
    ['postgres', 'postgres'],
  ] as const) {
    const url = `postgresql://${encodeURIComponent(user)}@127.0.0.1:5432/${database}`;
    if (await succeeds(answersAsPostgres(url))) return { url, source: url };
  }
  if (!hasPostgres) return undefined;
  const { url, stop } = await startPostgres();
  return { url, stop, source: `started for this run, ${url}` };
}

/** By MYSQL_URL, on the usual port of this machine, or started here; undefined when there is none. */
export async function findMysql(): Promise<FoundServer | undefined> {
  const given = process.env['MYSQL_URL'];
  if (given) {
    await answersAsMysql(given).catch((error) => {
      throw new Error('MYSQL_URL is set, but no MySQL or MariaDB answers there', { cause: error });
    });
    return { url: given, source: 'that of MYSQL_URL' };
  }
  const usual = 'mysql://root@127.0.0.1:3306/test';
  if (await succeeds(answersAsMysql(usual))) return { url: usual, source: usual };
  if (!hasMariadb) return undefined;
  const { url, stop } = await startMariadb();
  return { url, stop, source: `started for this run, ${url}` };
}

/** By REDIS_URL, on the usual port of this machine, or started here; undefined when there is none. */
export async function findRedis(): Promise<FoundServer | undefined> {
  const given = process.env['REDIS_URL'];
  if (given) {
    await answersAsRedis(given).catch((error) => {
      throw new Error('REDIS_URL is set, but no Redis answers there', { cause: error });
    });
    return { url: given, source: 'that of REDIS_URL' };
  }
  const usual = 'redis://127.0.0.1:6379';
  if (await succeeds(answersAsRedis(usual))) return { url: usual, source: usual };
  if (!hasRedis) return undefined;
  const { url, stop } = await startRedis();
  return { url, stop, source: `started for this run, ${url}` };
}

async function answersAsPostgres(connectionString: string): Promise<void> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  try {
    await client.connect();
    const { rows } = await client.query(
      "SELECT has_database_privilege(current_database(), 'CREATE') AS may_create",
    );
    // The tests make schemas of their own.
    if (!rows[0].may_create) throw new Error('The user may not create a schema in the database');
  } finally {
    await client.end();
  }
}

async function answersAsMysql(uri: string): Promise<void> {
  const client = await mysql.createConnection({ uri, connectTimeout: CONNECT_TIMEOUT_MS });
  try {
    // The tests make databases of their own.
    await client.query('CREATE DATABASE IF NOT EXISTS mp_may_create');
    await client.query('DROP DATABASE mp_may_create');
  } finally {
    client.destroy();
  }
}

async function answersAsRedis(url: string): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  // The failure comes out of connect(), too.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
}

function succeeds(attempt: Promise<void>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  );
}
