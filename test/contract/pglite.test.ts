import type { PGlite } from '@electric-sql/pglite';
import { beforeAll } from 'vitest';
import { postgresInbox } from '../../src/postgres/inbox-postgres-inbox.js';
import { postgresOutbox } from '../../src/postgres/outbox-postgres-outbox.js';
import type { Queryable } from '../../src/postgres/pool.js';
import { unusedClient } from '../outbox/unused-client.js';
import { emptyPglite } from '../pglite.js';
import { describeInboxContract } from './inbox.js';
import { describeOutboxContract } from './outbox.js';

const options = { keepBodies: true };
const withoutFunctions = { ...options, prefix: 'plain_' };

let database: PGlite;
beforeAll(async () => {
  database = await emptyPglite();
  await postgresInbox(database).setup();
  await postgresOutbox(database, { client: unusedClient }).setup();
  await postgresInbox(database, withoutFunctions).setup();
  await database.exec('DROP FUNCTION plain_claim_v1; DROP FUNCTION plain_record_v1');
});

describeInboxContract('postgresInbox on PGlite', () => ({
  create: () => postgresInbox(database, options),
  concurrent: false,
  keepsFailures: true,
  keepsBodies: true,
}));

describeInboxContract('postgresInbox on PGlite, without its functions', () => ({
  create: () => postgresInbox(database, withoutFunctions),
  concurrent: false,
  keepsFailures: true,
  keepsBodies: true,
}));

describeOutboxContract<Queryable>('postgresOutbox on PGlite', () => ({
  create: (client) => postgresOutbox<Queryable>(database, { client }),
  transaction: (body) => database.transaction((tx) => body(tx as Queryable)),
  async loseLease() {
    await database.query(
      `UPDATE payment_outbox_payments SET lease_until_ms = 0 WHERE state IN ('sending', 'unresolved')`,
    );
  },
}));
