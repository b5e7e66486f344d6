import type { PoolConnection } from 'mysql2/promise';
import { describe } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { describeMany, describeProcesses, type SqlServer } from '../store/sql/concurrency-cases.js';
import { terminate, useDatabase } from './server.js';

const { openPool, observer, query, waitForBlocked } = useDatabase('mp_store_concurrency');

const long = { lockTimeoutMs: 60_000, acquireTimeoutMs: 60_000 };
const server: SqlServer = {
  openStore: () => mysqlStore(openPool({ connectionLimit: 3 }), long),
  query,
  serial: 'int AUTO_INCREMENT PRIMARY KEY',
  send: (tx, sql) => (tx as PoolConnection).query(sql),
  waitForBlocked,
  terminate: (tx) => terminate(observer, tx as PoolConnection),
};

describe.skipIf(!process.env['MYSQL_URL'])('several processes on a server', () => {
  describe('with many deliveries at once', () => describeMany(server));

  describeProcesses('several', server);
});
