import { expect, it } from 'vitest';
import { postgresOutbox } from '../../../src/postgres/outbox-postgres-outbox.js';
import type { Queryable } from '../../../src/postgres/pool.js';
import { emptyPglite } from '../../pglite.js';
import { order } from '../settling-scene.js';
import { unusedClient } from '../unused-client.js';

it('does not accept a PGlite itself as a transaction', async () => {
  const database = await emptyPglite();
  const outbox = postgresOutbox<Queryable>(database, { client: unusedClient });
  await outbox.setup();
  const recording = outbox.record(order('alone'), { tx: database as unknown as Queryable });
  await expect(recording).rejects.toMatchObject({
    option: 'tx',
    message: expect.stringContaining('received a PGlite'),
  });
  expect(await outbox.get('alone')).toBeUndefined();
});
