import type { PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { order, startScene } from '../settling-scene.js';
import { useDatabase } from './server.js';

describe.skipIf(!process.env['MYSQL_URL'])('a receiver with inbox and outbox in MySQL', () => {
  const { openPool, query, transaction } = useDatabase('outbox_settling');

  it('settles in the transaction of the inbox, before onPayment, and again if that fails', async () => {
    let shouldFail = true;
    const states: unknown[] = [];
    const pool = openPool();
    await using scene = await startScene<PoolConnection>({
      createOutbox: (client) => mysqlStore<PoolConnection>(pool, { client }),
      inbox: mysqlStore<PoolConnection>(pool),
      async onPayment({ payment }, { tx }) {
        const [rows] = await tx.query('SELECT state FROM payment_store_payments');
        states.push(rows, await stored());
        const { status, merchantPaymentReference } = payment;
        const values = [status, merchantPaymentReference];
        await tx.query('UPDATE orders SET status = ? WHERE reference = ?', values);
        if (shouldFail) throw new Error('not yet');
      },
      onError: () => {},
    });
    const { mock, outbox } = scene;
    const stored = () =>
      query(
        `SELECT orders.status, state FROM orders
         JOIN payment_store_payments AS payments ON payments.reference = orders.reference`,
      );
    await transaction(async (tx) => {
      await tx.query(`INSERT INTO orders VALUES ('order-1', 'new')`);
      await outbox.record(order('order-1'), { tx });
    });
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    expect(await outbox.send('order-1')).toMatchObject({ state: 'unresolved' });
    const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);

    const failed = await mock.setStatus(referenceNumber, 'paid');
    expect(failed.attempts[0]?.response?.status).toBe(500);
    expect(states).toEqual([[{ state: 'created' }], [{ status: 'new', state: 'unresolved' }]]);
    // Otherwise a person who finds it unresolved, or a click, may have a second payment created.
    expect(await stored()).toEqual([{ status: 'new', state: 'created' }]);
    shouldFail = false;
    await mock.setStatus(referenceNumber, 'paid');
    expect(await stored()).toEqual([{ status: 'paid', state: 'created' }]);
  });
});
