import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { startScene } from '../store/settling-scene.js';
import { change, collect, heldWork, order } from './change.js';
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

  it("settles in a transaction of its own if that of the work can't be committed", async () => {
    await observer.query('CREATE TABLE parents (reference text PRIMARY KEY)');
    await observer.query(
      'CREATE TABLE shipments (reference text REFERENCES parents DEFERRABLE INITIALLY DEFERRED)',
    );
    await using scene = await startScene<pg.PoolClient>({
      createStore: (client) => postgresStore<pg.PoolClient>(openPool(), { client }) as never,
      onPayment: (_, { tx }) => tx.query(`INSERT INTO shipments VALUES ('no order')`),
      onError: () => {},
    });
    const { mock, store } = scene;
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    await store.create(order('order-6'));
    const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);
    const delivery = await mock.setStatus(referenceNumber, 'paid');
    expect(delivery.attempts[0]?.response?.status).toBe(500);
    expect(await store.get('order-6')).toMatchObject({ state: 'created' });
  });

  it('settles a parked change, because the service does not send it again', async () => {
    await using scene = await startScene<pg.PoolClient>({
      createStore: (client) => postgresStore<pg.PoolClient>(openPool(), { client }) as never,
      parkAfter: 1,
      onPayment() {
        throw new Error('broken');
      },
      onError: () => {},
    });
    const { mock, store } = scene;
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    await store.create(order('order-3'));
    const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);
    for (const status of ['authorized', 'paid']) {
      const delivery = await mock.setStatus(referenceNumber, status);
      expect(delivery.attempts[0]?.response?.status).toBe(200);
      expect(await store.get('order-3')).toMatchObject({ state: 'created' });
    }
    expect(await collect(store.attention({ kinds: ['unresolved'] }))).toEqual([]);
  });

  it('reports a statement_timeout that cuts its claim short, and answers 500, not busy', async () => {
    const reports: unknown[] = [];
    const pool = openPool({ options: '-c statement_timeout=1' });
    await using scene = await startScene<pg.PoolClient>({
      createStore: (client) => postgresStore<pg.PoolClient>(pool, { client }) as never,
      onPayment() {},
      onError: (error) => void reports.push(error),
    });
    const { mock, client } = scene;
    const { payment } = await client.payments.create(order('order-7'));
    const held = heldWork<pg.PoolClient>();
    const other = postgresStore<pg.PoolClient>(openPool());
    const first = outcomeOf(other, change('order-7'), held.work);
    await held.started;
    const delivery = await mock.setStatus(String(payment.referenceNumber), 'paid');
    held.finish();
    await first;
    expect(delivery.attempts[0]?.response?.status).toBe(500);
    expect(reports).toMatchObject([
      { code: 'STORE_FAILED', message: expect.stringContaining('statement_timeout') },
    ]);
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
