import type { PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, heldWork } from '../postgres/change.js';
import { outcomeOf } from '../store/outcome-of.js';
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

  // Two messages on two connections within a millisecond may reach the server in either order.
  it('run changes that arrive at once at one without a connection yet one after another, the overtaken not as current', async () => {
    for (const round of [1, 2, 3, 4, 5]) {
      const reference = `at-once-${round}`;
      const store = mysqlStore<PoolConnection>(openPool({ connectionLimit: 5 }), long);
      const ran: { minute: number; current: boolean }[] = [];
      const held = heldWork<PoolConnection>();
      const outcomes = [0, 1, 2, 3, 4].map((minute) =>
        outcomeOf(store, change(reference, minute), async (context) => {
          ran.push({ minute, current: context.current });
          // Whichever reaches the server first.
          if (ran.length === 1) await held.work(context);
        }),
      );
      await waitForBlocked(4);
      held.finish();
      expect(await Promise.all(outcomes)).toEqual(Array(5).fill('processed'));
      const minutes = ran.map(({ minute }) => minute);
      expect(minutes.toSorted()).toEqual([0, 1, 2, 3, 4]);
      const expected = minutes.map((minute, index) => ({
        minute,
        current: Math.max(...minutes.slice(0, index), -1) < minute,
      }));
      expect(ran).toEqual(expected);
    }
  });
});
