import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { describeProvider, useProvider } from '../../store/sql/provider-cases.js';
import { unusedClient } from '../../store/unused-client.js';
import { providers } from './providers.js';

const url = process.env['DATABASE_URL'] ?? '';

describe.skipIf(url === '').each(Object.entries(providers))('a store on %s', (_, open) => {
  const schema = `mp_provider_${randomUUID().slice(0, 8)}`;
  const observer = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}` });
  beforeAll(async () => {
    await observer.query(
      `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (reference text, status text)`,
    );
  });
  afterAll(async () => {
    await observer.query(`DROP SCHEMA ${schema} CASCADE`);
    await observer.end();
  });
  const ofSessions = `FROM pg_stat_activity WHERE application_name = '${schema}' AND state LIKE 'idle in transaction%'`;
  const scene = useProvider({
    open: (options) => open(url, schema, options),
    makeStore: (provider, options) => postgresStore(provider, options),
    makePayments: (provider) => postgresStore(provider, { client: unusedClient }),
    query: async (sql, values) => (await observer.query(sql.replace('?', '$1'), values)).rows,
    loseConnection: () => observer.query(`SELECT pg_terminate_backend(pid) ${ofSessions}`),
    endsConnection: 'SELECT pg_terminate_backend(pg_backend_pid())',
    endings: ['COMMIT', 'ROLLBACK'],
  });
  const { written, isRecorded, deliver } = scene;
  describeProvider(scene);

  it('never processes work that swallows a failed statement', async () => {
    const running = deliver('swallowed', async (db) => {
      await db.insert('swallowed', 'paid');
      await db.fail().catch(() => undefined);
    });
    await expect(running).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('the work continued'),
    });
    expect(await written('swallowed')).toEqual([]);
    expect(await isRecorded('swallowed')).toBe(false);
  });
});

// TypeORM connects before there is a store.
const lazy = Object.entries(providers).filter(([name]) => name !== 'TypeORM');

describe.each(lazy)('%s without a server', (_, open) => {
  it.each([
    ['127.0.0.1:1', '127.0.0.1:1'],
    ['database.invalid:3000', 'database.invalid'],
  ])('says that %s was not reached, and that nothing was done', async (host, named) => {
    const { provider, close } = await open(`postgres://root@${host}/test`, 'public');
    onTestFinished(() => void close());
    const store = postgresStore(provider);
    await expect(store.setup()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('provided no connection, so nothing was done'),
      cause: { message: expect.stringContaining(named) },
    });
  });
});
