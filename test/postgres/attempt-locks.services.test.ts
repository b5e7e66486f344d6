import type pg from 'pg';
import { beforeAll, describe } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { inTransaction } from '../services/postgres-schema.js';
import { describeAttemptLocks } from '../store/sql/attempt-lock-cases.js';
import { useSchema } from './server.js';

const long = { lockTimeoutMs: 60_000, acquireTimeoutMs: 60_000 };

describe.skipIf(!process.env['DATABASE_URL'])('the attempts at an order in Postgres', () => {
  const { openPool, observer } = useSchema('mp_attempt_locks');
  const application_name = 'mp_attempts';
  // A connection hands in its figures at its end, at the latest.
  const openShort = () =>
    openPool({ application_name, max: 5, idleTimeoutMillis: 50, options: '-c lock_timeout=0' });
  const merchant = openShort();

  beforeAll(async () => {
    await observer.query('CREATE TABLE own_orders (reference text PRIMARY KEY, status text)');
  });

  describeAttemptLocks({
    openStore: (client) =>
      postgresStore(openShort(), {
        client,
        declined: ['declined'],
        ...long,
      }) as PaymentStore<unknown>,
    transaction: (body) => inTransaction(merchant, body),
    send: (tx, sql) => (tx as pg.PoolClient).query(sql),
    query: async (sql) => (await observer.query(sql)).rows,
    async waitForBlocked(count) {
      const blocked = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`;
      while ((await observer.query(blocked, [application_name])).rows.length !== count);
    },
    async countDeadlocks() {
      const others = 'SELECT FROM pg_stat_activity WHERE application_name = $1';
      while ((await observer.query(others, [application_name])).rows.length > 0);
      const text = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()';
      return Number((await observer.query(text)).rows[0].deadlocks);
    },
  });
});
