import type { PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { order } from '../postgres/change.js';
import { startScene } from '../store/settling-scene.js';
import { useDatabase } from './server.js';

describe.skipIf(!process.env['MYSQL_URL'])('a receiver with a store in MySQL', () => {
  const { openPool, query, transaction } = useDatabase('mp_store_settling');

  it('settles in the transaction of the change, and also if onPayment fails', async () => {
    let shouldFail = true;
    const states: unknown[] = [];
    const pool = openPool();
    await using scene = await startScene<PoolConnection>({
      createStore: (client) => mysqlStore<PoolConnection>(pool, { client }),
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
    const { mock, store } = scene;
    const stored = () =>
      query(
        `SELECT orders.status, state FROM orders
         JOIN payment_store_payments AS payments ON payments.merchant_payment_reference = orders.reference`,
      );
    await transaction(async (tx) => {
      await tx.query(`INSERT INTO orders VALUES ('order-1', 'new')`);
      await store.record(order('order-1'), { tx });
    });
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    expect(await store.send('order-1')).toMatchObject({ state: 'unresolved' });
    const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);

    const failed = await mock.setStatus(referenceNumber, 'paid');
    expect(failed.attempts[0]?.response?.status).toBe(500);
    expect(states).toEqual([[{ state: 'unresolved' }], [{ status: 'new', state: 'unresolved' }]]);
    // Otherwise a person who finds it unresolved, or a click, may have a second payment created.
    expect(await stored()).toEqual([{ status: 'new', state: 'created' }]);
    shouldFail = false;
    await mock.setStatus(referenceNumber, 'paid');
    expect(await stored()).toEqual([{ status: 'paid', state: 'created' }]);
  });
});
