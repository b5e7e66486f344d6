import { userInfo } from 'node:os';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { hasMariadb, startMariadb } from './start-mariadb.js';
import { hasPostgres, startPostgres } from './start-postgres.js';
import { hasRedis, startRedis } from './start-redis.js';
import type { ThrowawayServer } from './throwaway-server.js';

/** A server that answers. */
export interface FoundServer {
  readonly url: string;
  /** How it was found, for people to read. */
  readonly source: string;
  /** Ends it, if it was started here. */
  readonly stop?: () => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 2_000;

interface Kind {
  readonly name: string;
  readonly variable: string;
  /** Where one is on this machine as a rule. */
  readonly usual: readonly string[];
  answers(url: string): Promise<void>;
  readonly isInstalled: boolean;
  start(): Promise<ThrowawayServer>;
}

/** By the variable, on the usual port of this machine, or started here; undefined when there is none. */
async function find(kind: Kind): Promise<FoundServer | undefined> {
  const { name, variable, usual, answers, isInstalled, start } = kind;
  const given = process.env[variable];
  if (given) {
    await answers(given).catch((error) => {
      throw new Error(`${variable} is set, but no ${name} answers there`, { cause: error });
    });
    return { url: given, source: `that of ${variable}` };
  }
  for (const url of usual) {
    const isThere = answers(url).then(
      () => true,
      () => false,
    );
    if (await isThere) return { url, source: url };
  }
  if (!isInstalled) return undefined;
  const { url, stop } = await start();
  return { url, stop, source: `started for this run, ${url}` };
}

const me = encodeURIComponent(userInfo().username);

export const findPostgres = () =>
  find({
    name: 'Postgres',
    variable: 'DATABASE_URL',
    usual: [
      `${me}@127.0.0.1:5432/test`,
      `${me}@127.0.0.1:5432/postgres`,
      'postgres@127.0.0.1:5432/postgres',
    ].map((rest) => `postgresql://${rest}`),
    answers: answersAsPostgres,
    isInstalled: hasPostgres,
    start: startPostgres,
  });

export const findMysql = () =>
  find({
    name: 'MySQL or MariaDB',
    variable: 'MYSQL_URL',
    usual: ['mysql://root@127.0.0.1:3306/test'],
    answers: answersAsMysql,
    isInstalled: hasMariadb,
    start: startMariadb,
  });

export const findRedis = () =>
  find({
    name: 'Redis',
    variable: 'REDIS_URL',
    usual: ['redis://127.0.0.1:6379'],
    answers: answersAsRedis,
    isInstalled: hasRedis,
    start: startRedis,
  });

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
