import type pg from 'pg';
import { describe } from 'vitest';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { runContract } from '../contract/run-contract.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])('postgresOutbox on a server', () => {
  const { observer, transaction } = useSchema();
  runContract<pg.PoolClient>({
    create: ({ client }) => postgresOutbox<pg.PoolClient>(observer, { client }),
    transaction,
    async loseLease() {
      await observer.query(
        `UPDATE payment_outbox_payments SET lease_until_ms = 0 WHERE state = 'sending'`,
      );
    },
  });
});
