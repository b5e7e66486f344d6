import { Kysely, PostgresDialect } from 'kysely';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { fromKysely } from '../../../src/store/providers/kysely.js';
import { unusedClient } from '../../store/unused-client.js';
import { order } from '../change.js';
import { useSchema } from '../server.js';

describe.skipIf(!process.env['DATABASE_URL'])('postgresStore on Kysely', () => {
  const { openPool } = useSchema('mp_kysely');

  it('records in a transaction of db.transaction() too, and is rolled back with it', async () => {
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: openPool() }) });
    const store = postgresStore(fromKysely(db), { client: unusedClient });
    const undone = db.transaction().execute(async (tx) => {
      await store.record(order('order-1'), { tx });
      throw new Error('out of stock');
    });
    await expect(undone).rejects.toThrow('out of stock');
    expect(await store.get('order-1')).toBeUndefined();
    await db.transaction().execute((tx) => store.record(order('order-1'), { tx }));
    expect(await store.get('order-1')).toMatchObject({ state: 'recorded' });
  });
});
