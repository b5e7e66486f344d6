import { Kysely, PostgresDialect } from 'kysely';
import { describe, expect, it } from 'vitest';
import { postgresOutbox } from '../../../src/postgres/outbox-postgres-outbox.js';
import { fromKysely } from '../../../src/store/providers/kysely.js';
import { order } from '../settling-scene.js';
import { unusedClient } from '../unused-client.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])('postgresOutbox on Kysely', () => {
  const { openPool } = useSchema();

  it('records in a transaction of db.transaction() too, and is rolled back with it', async () => {
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: openPool() }) });
    const outbox = postgresOutbox(fromKysely(db), { client: unusedClient });
    const undone = db.transaction().execute(async (tx) => {
      await outbox.record(order('order-1'), { tx });
      throw new Error('out of stock');
    });
    await expect(undone).rejects.toThrow('out of stock');
    expect(await outbox.get('order-1')).toBeUndefined();
    await db.transaction().execute((tx) => outbox.record(order('order-1'), { tx }));
    expect(await outbox.get('order-1')).toMatchObject({ state: 'recorded' });
  });
});
