import type pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { postgresInbox } from '../../src/postgres/inbox-postgres-inbox.js';
import { postgresOutbox } from '../../src/postgres/outbox-postgres-outbox.js';
import { type OpenProvider, providers } from '../inbox/postgres/providers/providers.js';
import { useSchema } from '../outbox/postgres/server.js';
import { unusedClient } from '../outbox/unused-client.js';
import { describeInboxContract, type InboxUnderTest } from './inbox.js';
import { describeOutboxContract } from './outbox.js';

const url = process.env['DATABASE_URL'] ?? '';
const waitMs = 1_000;
const options = { lockTimeoutMs: waitMs, keepBodies: true };
const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };

type Server = ReturnType<typeof useSchema>;

const inboxOn = ({ observer, schema }: Server, create: InboxUnderTest['create']) => ({
  create,
  waitMs,
  keepsFailures: true,
  keepsBodies: true,
  async loseClaim() {
    // A case that calls this has one delivery under way.
    const { rowCount } = await observer.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = $1 AND state = 'idle in transaction'`,
      [schema],
    );
    if (rowCount !== 1) throw new Error(`${rowCount} transactions are open, not one`);
  },
});

const loseLease = async ({ observer }: Server): Promise<void> => {
  await observer.query(
    `UPDATE payment_outbox_payments SET lease_until_ms = 0 WHERE state IN ('sending', 'unresolved')`,
  );
};

describe.skipIf(url === '')('on a server,', () => {
  describe('pg:', () => {
    const server = useSchema();
    const pool = server.openPool();
    // The cases on crashes end connections.
    pool.on('error', () => {});
    describeInboxContract('postgresInbox', () =>
      inboxOn(server, () => postgresInbox(pool, options)),
    );
    describeOutboxContract<pg.PoolClient>('postgresOutbox', () => ({
      create: (client) => postgresOutbox<pg.PoolClient>(pool, { client }),
      transaction: server.transaction,
      loseLease: () => loseLease(server),
    }));
  });

  describe.each(Object.entries(providers))('%s:', (_, open) => {
    const server = useSchema();
    let opened: OpenProvider;
    beforeAll(async () => {
      opened = await open(url, server.schema);
      await postgresInbox(opened.provider, { prefix: 'own_inbox_' }).setup();
      await postgresOutbox(opened.provider, {
        client: unusedClient,
        prefix: 'own_outbox_',
      }).setup();
    });
    afterAll(() => opened.close());
    describeInboxContract('postgresInbox', () =>
      inboxOn(server, () => postgresInbox(opened.provider, options)),
    );
    describeOutboxContract('postgresOutbox', () => ({
      create: (client) => postgresOutbox(opened.provider, { client }),
      transaction: async (body) => void (await opened.provider.transaction(body, limits)),
      loseLease: () => loseLease(server),
    }));
  });
});
