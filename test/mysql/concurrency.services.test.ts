import type { PoolConnection } from 'mysql2/promise';
import { beforeAll, describe, expect, it } from 'vitest';
import { mysqlInbox } from '../../src/mysql/inbox-mysql-inbox.js';
import { change, heldWork } from '../postgres/payment-change.js';
import { describeMany, describeProcesses, type SqlServer } from '../sql/concurrency-cases.js';
import { terminate, useDatabase } from './server.js';

const { openPool, observer, query, waitForBlocked } = useDatabase('mp_inbox_concurrency');

const long = { lockTimeoutMs: 60_000, acquireTimeoutMs: 60_000 };
const server: SqlServer = {
  openInbox: () => mysqlInbox(openPool({ connectionLimit: 3 }), long),
  query,
  serial: 'int AUTO_INCREMENT PRIMARY KEY',
  send: (tx, sql) => (tx as PoolConnection).query(sql),
  waitForBlocked,
  terminate: (tx) => terminate(observer, tx as PoolConnection),
};

describe.skipIf(!process.env['MYSQL_URL'])('several processes on a server', () => {
  describe('with many deliveries at once', () => describeMany(server));

  describe.each([
    ['with the procedures', true],
    ['without them', false],
  ])('%s', (form, hasProcedures) => {
    beforeAll(async () => {
      for (const name of hasProcedures ? [] : ['claim', 'record']) {
        await query(`DROP PROCEDURE payment_inbox_${name}_v1`);
      }
    });
    describeProcesses(form, server);

    // Two messages on two connections within a millisecond may reach the server in either order.
    it('run changes that arrive at once at one without a connection yet one after another, the overtaken as stale', async () => {
      for (const round of [1, 2, 3, 4, 5]) {
        const reference = `at-once-${form}-${round}`;
        const inbox = mysqlInbox<PoolConnection>(openPool({ connectionLimit: 5 }), long);
        const ran: number[] = [];
        const held = heldWork<PoolConnection>();
        const outcomes = [0, 1, 2, 3, 4].map((minute) =>
          inbox.process(change(reference, minute), async (context) => {
            ran.push(minute);
            if (minute === 0) await held.work(context);
          }),
        );
        await waitForBlocked(4);
        held.finish();
        const ended = await Promise.all(outcomes);
        expect(ran).toEqual([0, 1, 2, 3, 4].filter((minute) => ended[minute] === 'processed'));
        expect(ran).toContain(4);
        expect(ended.filter((outcome) => outcome !== 'processed' && outcome !== 'stale')).toEqual(
          [],
        );
      }
    });
  });
});
