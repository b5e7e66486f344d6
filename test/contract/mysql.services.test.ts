import { randomUUID } from 'node:crypto';
import type { PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe } from 'vitest';
import { mysqlStore } from '../../src/mysql/index.js';
import { providers } from '../mysql/providers/providers.js';
import { killIdleTransaction, useDatabase } from '../mysql/server.js';
import type { OpenProvider } from '../postgres/providers/providers.js';
import { inDatabase } from '../services/mysql-url.js';
import { letPassOf } from './let-pass.js';
import { describeStore, type StoreUnderTest } from './store.js';

const url = process.env['MYSQL_URL'] ?? '';
const waitMs = 1_000;
const own = { lockTimeoutMs: waitMs };
const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };

const otherDefaults = [
  "SET SESSION sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,TRADITIONAL,ONLY_FULL_GROUP_BY'",
  'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
  'SET SESSION TRANSACTION READ ONLY',
  "SET SESSION time_zone = '+05:30'",
  'SET SESSION completion_type = 1',
  'SET NAMES latin1',
  'SET SESSION autocommit = 0',
];

/** A database of the server with the store's tables, dropped after the suite. */
function useStore() {
  const unique = `contract_${randomUUID().replaceAll('-', '')}`;
  const { observer, query, openPool, database, transaction } = useDatabase(unique);
  beforeAll(() => mysqlStore(observer).setup());

  const underTest = {
    waitMs,
    // A case that calls this has one delivery under way.
    loseClaim: () => killIdleTransaction(observer, database),
    async letPass(reference: string, ms: number) {
      await query(letPassOf(reference, ms));
    },
  } satisfies Partial<StoreUnderTest>;
  return { openPool, underTest, transaction, database };
}

describe.skipIf(url === '')('on a server,', () => {
  describe.each([
    ['mysql2', []],
    ['mysql2 with other defaults of the session', otherDefaults],
  ])('%s:', (_, statements) => {
    const { openPool, underTest, transaction } = useStore();
    const pool = openPool({}, statements);
    describeStore<PoolConnection>('mysqlStore', () => ({
      ...underTest,
      transaction,
      database: () => pool,
      create: (options) => mysqlStore<PoolConnection>(pool, { ...options, ...own }),
    }));
  });

  describe.each(Object.entries(providers))('%s:', (name, open) => {
    const { underTest, database } = useStore();
    let opened: OpenProvider;
    beforeAll(async () => {
      opened = await open(inDatabase(url, database));
      await mysqlStore(opened.provider, { prefix: 'own_' }).setup();
    });
    afterAll(() => opened.close());
    describeStore('mysqlStore', () => ({
      ...underTest,
      hasPages: false,
      showsLosses: !/Kysely|Prisma/.test(name),
      database: () => opened.provider.database,
      transaction: async (body) => void (await opened.provider.transaction(body, limits)),
      create: (options) => mysqlStore(opened.provider, { ...options, ...own }),
    }));
  });
});
