import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import type { Queryable } from '../../../src/storage/postgres/pool.js';
import { openPglite } from '../../inbox/postgres/open-pglite.js';
import { runContract } from '../contract/run-contract.js';
import { order } from '../settling-scene.js';
import { unusedClient } from '../unused-client.js';

describe('postgresOutbox on PGlite', () => {
  let database: Awaited<ReturnType<typeof openPglite>>;
  beforeAll(async () => {
    database = await openPglite();
    await postgresOutbox(database, { client: unusedClient }).setup();
  });
  afterAll(() => database.close());

  runContract<Queryable>({
    create: ({ client }) => postgresOutbox<Queryable>(database, { client }),
    transaction: (body) => database.transaction((tx) => body(tx as Queryable)),
    async loseLease() {
      await database.query(
        `UPDATE payment_outbox_payments SET lease_until_ms = 0 WHERE state = 'sending'`,
      );
    },
  });

  it('does not accept the database itself as a transaction', async () => {
    const outbox = postgresOutbox<Queryable>(database, { client: unusedClient });
    const recording = outbox.record(order('alone'), { tx: database as unknown as Queryable });
    await expect(recording).rejects.toMatchObject({
      option: 'tx',
      message: expect.stringContaining('received a PGlite'),
    });
    expect(await outbox.get('alone')).toBeUndefined();
  });
});
