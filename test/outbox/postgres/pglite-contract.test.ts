import { afterAll, beforeAll, describe } from 'vitest';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import type { Queryable } from '../../../src/storage/postgres/pool.js';
import { openPglite } from '../../inbox/postgres/open-pglite.js';
import { runContract } from '../contract/run-contract.js';
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
        `UPDATE payment_outbox_payments SET lease_until = now() WHERE state = 'sending'`,
      );
    },
  });
});
