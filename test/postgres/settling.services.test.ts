import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { startScene } from '../store/settling-scene.js';
import { order } from './change.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])('a receiver with a store in Postgres', () => {
  const { observer, openPool, transaction, countBlocked } = useSchema('mp_settling');

  it('settles in the transaction of the work, and also if that fails', async () => {
    let shouldFail = true;
    const states: unknown[] = [];
    const pool = openPool();
    const stored = async () => {
      const { rows } = await observer.query(
        `SELECT status, state FROM orders JOIN payment_store_payments ON reference = merchant_payment_reference
         WHERE reference = 'order-1'`,
      );
      return rows;
    };
    await using scene = await startScene<pg.PoolClient>({
      createStore: (client) => postgresStore<pg.PoolClient>(pool, { client }) as never,
      async onPayment({ payment }, { tx }) {
        states.push(...(await stored()));
        await tx.query('UPDATE orders SET status = $1 WHERE reference = $2', [
          payment.status,
          payment.merchantPaymentReference,
        ]);
        if (shouldFail) throw new Error('not yet');
      },
      onError: () => {},
    });
    const { mock, store } = scene;
    await transaction(async (tx) => {
      await tx.query(`INSERT INTO orders VALUES ('order-1', 'new')`);
      await store.record(order('order-1'), { tx: tx as never });
    });
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    expect(await store.send('order-1')).toMatchObject({ state: 'unresolved' });
    const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);
    const answerOf = async () =>
      (await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status;

    expect(await answerOf()).toBe(500);
    // Others see neither before the end.
    expect(states).toEqual([{ status: 'new', state: 'unresolved' }]);
    // Otherwise a person who finds it unresolved, or a click, may have a second payment created.
    expect(await stored()).toEqual([{ status: 'new', state: 'created' }]);
    shouldFail = false;
    expect(await answerOf()).toBe(200);
    expect(await stored()).toEqual([{ status: 'paid', state: 'created' }]);
  });

  it('sends a payment that could be stored only after its lease had expired', async () => {
    const pool = openPool({ options: '-c lock_timeout=0' });
    await using scene = await startScene<pg.PoolClient>({
      createStore: (client) =>
        postgresStore<pg.PoolClient>(pool, { client, leaseMs: 2_000 }) as never,
      onPayment() {},
    });
    const { store } = scene;
    const isLate = async () => {
      const { rows } = await observer.query(
        `SELECT clock_timestamp() - query_start > interval '2.1 s' AS late FROM pg_stat_activity
         WHERE application_name = 'mp_settling' AND wait_event_type = 'Lock'`,
      );
      return rows;
    };
    let creating: Promise<unknown> | undefined;
    // Its order is undone.
    const recording = transaction(async (tx) => {
      await store.record(order('order-5'), { tx: tx as never });
      creating = store.create(order('order-5'));
      await expect.poll(isLate, { timeout: 30_000 }).toEqual([{ late: true }]);
      throw new Error('undone');
    });
    await expect(recording).rejects.toThrow('undone');
    expect(await creating).toMatchObject({ state: 'created', replayed: false });
    expect(await countBlocked()).toBe(0);
  });
});
