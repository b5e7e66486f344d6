import { drizzle } from 'drizzle-orm/node-postgres';
import { describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { fromDrizzle } from '../../../src/storage/providers/drizzle.js';
import { sameDatabase } from '../../../src/storage/shared-database.js';
import { runContract } from '../contract/run-contract.js';
import { unusedClient } from '../unused-client.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])('postgresOutbox with Drizzle', () => {
  const { observer, openPool } = useSchema();
  const db = drizzle(openPool());
  type Tx = Parameters<Parameters<typeof db.transaction>[0]>[0];

  runContract<Tx>({
    create: ({ client }) => postgresOutbox(fromDrizzle(db), { client }),
    transaction: (body) => db.transaction(body),
    async loseLease() {
      await observer.query(
        `UPDATE payment_outbox_payments SET lease_until = now() WHERE state = 'sending'`,
      );
    },
  });

  it('shares a database with an inbox of the same Drizzle', () => {
    const outbox = postgresOutbox(fromDrizzle(db), { client: unusedClient });
    expect(sameDatabase(postgresInbox(fromDrizzle(db)), outbox)).toBe(true);
    expect(sameDatabase(postgresInbox(observer), outbox)).toBe(false);
  });
});
