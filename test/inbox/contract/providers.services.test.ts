import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { type OpenProvider, providers } from '../postgres/providers/providers.js';
import { runContract } from './run-contract.js';

const waitMs = 1_000;

const connectionString = process.env['DATABASE_URL'] ?? '';

describe.skipIf(!connectionString).each(Object.entries(providers))(
  'a Postgres inbox with %s',
  (_, open) => {
    const schema = `inbox_contract_${randomUUID().replaceAll('-', '')}`;
    const admin = new pg.Pool({ connectionString, max: 1 });
    let opened: OpenProvider;

    beforeAll(async () => {
      await admin.query(`CREATE SCHEMA ${schema}`);
      opened = await open(connectionString, schema);
      await postgresInbox(opened.provider).setup();
    });
    afterAll(async () => {
      await opened.close();
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.end();
    });

    runContract({
      create: () => postgresInbox(opened.provider, { lockTimeoutMs: waitMs, keepBodies: true }),
      waitMs,
      keepsFailures: true,
      keepsBodies: true,
      async loseClaim() {
        // A case that calls this has one delivery under way.
        const { rowCount } = await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = $1 AND state = 'idle in transaction'`,
          [schema],
        );
        if (rowCount !== 1) throw new Error(`${rowCount} transactions are open, not one`);
      },
    });
  },
);
