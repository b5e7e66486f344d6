import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { postgresStore } from '../../src/postgres/index.js';
import { type OpenProvider, providers } from '../postgres/providers/providers.js';
import { useEmptySchema } from '../services/postgres-schema.js';
import { letPassOf } from './let-pass.js';
import { describeStore, type StoreUnderTest } from './store.js';

const url = process.env['DATABASE_URL'] ?? '';
const waitMs = 1_000;
const own = { lockTimeoutMs: waitMs };
const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };

/** A schema of the server with the store's tables, dropped after the suite. */
function useSchema() {
  const schema = `contract_${randomUUID().replaceAll('-', '')}`;
  const { openPool, observer, transaction } = useEmptySchema(schema);
  beforeAll(() => postgresStore(observer).setup());

  const underTest = {
    waitMs,
    async loseClaim() {
      // A case that calls this has one delivery under way.
      const { rowCount } = await observer.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE application_name = $1 AND state = 'idle in transaction'`,
        [schema],
      );
      if (rowCount !== 1) throw new Error(`${rowCount} transactions are open, not one`);
      // The driver hears of it first: postgres.js never writes again on a connection that ends while it is writing.
      for (let turns = 0; turns < 2; turns += 1) await new Promise(setImmediate);
    },
    async letPass(reference: string, ms: number) {
      await observer.query(letPassOf(reference, ms));
    },
  } satisfies Partial<StoreUnderTest>;
  return { schema, openPool, underTest, transaction };
}

describe.skipIf(url === '')('on a server,', () => {
  describe('pg:', () => {
    const { openPool, underTest, transaction } = useSchema();
    const pool = openPool();
    // The cases on crashes end connections.
    pool.on('error', () => {});
    describeStore<pg.PoolClient>('postgresStore', () => ({
      ...underTest,
      transaction,
      database: () => pool,
      create: (options) => postgresStore<pg.PoolClient>(pool, { ...options, ...own }),
    }));
  });

  describe.each(Object.entries(providers))('%s:', (name, open) => {
    const { schema, underTest } = useSchema();
    let opened: OpenProvider;
    beforeAll(async () => {
      opened = await open(url, schema);
      await postgresStore(opened.provider, { prefix: 'own_' }).setup();
    });
    afterAll(() => opened.close());
    describeStore('postgresStore', () => ({
      ...underTest,
      hasPages: false,
      showsLosses: !/Kysely|Prisma/.test(name),
      database: () => opened.provider.database,
      transaction: async (body) => void (await opened.provider.transaction(body, limits)),
      create: (options) => postgresStore(opened.provider, { ...options, ...own }),
    }));
  });
});
