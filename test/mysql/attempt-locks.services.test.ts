import type { PoolConnection } from 'mysql2/promise';
import { beforeAll, describe } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { describeAttemptLocks } from '../store/sql/attempt-lock-cases.js';
import { useDatabase } from './server.js';

const long = { lockTimeoutMs: 60_000, acquireTimeoutMs: 60_000 };

describe.skipIf(!process.env['MYSQL_URL'])('the attempts at an order in MariaDB', () => {
  const { openPool, query, transaction, waitForBlocked } = useDatabase('mp_attempt_locks');

  beforeAll(async () => {
    await query(
      'CREATE TABLE own_orders (reference varchar(200) PRIMARY KEY, status varchar(200))',
    );
  });

  describeAttemptLocks({
    openStore: (client) =>
      mysqlStore(openPool({ connectionLimit: 5 }), {
        client,
        declined: ['declined'],
        ...long,
      }) as PaymentStore<unknown>,
    transaction,
    send: (tx, sql) => (tx as PoolConnection).query(sql),
    query,
    waitForBlocked,
    async countDeadlocks() {
      const [row] = await query<{ count: number }>(
        `SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'`,
      );
      return Number(row?.count);
    },
  });
});
