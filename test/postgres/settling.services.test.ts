import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore, postgresStore } from '../../src/postgres/postgres-store.js';
import { collect } from '../contract/store/stage.js';
import { order, startScene } from './change.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])(
  'a receiver with store and store in Postgres',
  () => {
    const { observer, openPool, transaction } = useSchema();

    it('settles in the transaction of the store, before onPayment, and again if that fails', async () => {
      let shouldFail = true;
      const states: unknown[] = [];
      const pool = openPool();
      await using scene = await startScene<pg.PoolClient>({
        createOutbox: (client) => postgresStore<pg.PoolClient>(pool, { client }),
        store: postgresStore<pg.PoolClient>(pool),
        async onPayment({ payment }, { tx }) {
          const { rows } = await tx.query('SELECT state FROM payment_store_payments');
          states.push(...rows, ...(await stored()));
          await tx.query('UPDATE orders SET status = $1 WHERE reference = $2', [
            payment.status,
            payment.merchantPaymentReference,
          ]);
          if (shouldFail) throw new Error('not yet');
        },
        onError: () => {},
      });
      const { mock, store } = scene;
      const stored = async () => {
        const { rows } = await observer.query(
          `SELECT orders.status, state FROM orders JOIN payment_store_payments USING (reference)`,
        );
        return rows;
      };
      await transaction(async (tx) => {
        await tx.query(`INSERT INTO orders VALUES ('order-1', 'new')`);
        await store.record(order('order-1'), { tx });
      });
      mock.faults.add({ on: 'request', type: 'lost-answer' });
      expect(await store.send('order-1')).toMatchObject({ state: 'unresolved' });
      const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);

      expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(
        500,
      );
      expect(states).toEqual([{ state: 'created' }, { status: 'new', state: 'unresolved' }]);
      // Otherwise a person who finds it unresolved, or a click, may have a second payment created.
      expect(await stored()).toEqual([{ status: 'new', state: 'created' }]);
      shouldFail = false;
      await mock.setStatus(referenceNumber, 'paid');
      expect(await stored()).toEqual([{ status: 'paid', state: 'created' }]);
    });

    it("settles in its own transaction if the transaction of the work can't be committed", async () => {
      const pool = openPool();
      await observer.query(
        `CREATE TABLE shipments (reference text REFERENCES orders DEFERRABLE INITIALLY DEFERRED)`,
      );
      await using scene = await startScene<pg.PoolClient>({
        createOutbox: (client) => postgresStore<pg.PoolClient>(pool, { client }),
        store: postgresStore<pg.PoolClient>(pool),
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
      const pool = openPool();
      const store = postgresStore<pg.PoolClient>(pool);
      await using scene = await startScene<pg.PoolClient>({
        createOutbox: (client) => postgresStore<pg.PoolClient>(pool, { client }),
        store,
        parkAfter: 1,
        blockParked: true,
        onPayment() {
          throw new Error('broken');
        },
        onError: () => {},
      });
      const { mock, store } = scene;
      mock.faults.add({ on: 'request', type: 'lost-answer' });
      await store.create(order('order-3'));
      const [existing] = mock.payments.list();
      const referenceNumber = String(existing?.referenceNumber);
      // The first is parked by its failure, the second behind it.
      for (const status of ['authorized', 'paid']) {
        const delivery = await mock.setStatus(referenceNumber, status);
        expect(delivery.attempts[0]?.response?.status).toBe(200);
        expect(await store.get('order-3')).toMatchObject({
          state: 'created',
          payment: { status },
        });
      }
      expect(await collect(store.unresolved())).toEqual([]);
    });

    it("does not acknowledge a parked change that can't be settled", async () => {
      const pool = openPool();
      const reports: unknown[] = [];
      await using scene = await startScene<pg.PoolClient>({
        createOutbox(client) {
          const store = postgresStore<pg.PoolClient>(pool, { client });
          const { settle } = Object.getPrototypeOf(store) as typeof store;
          store.settle = async (payment, context) => {
            if (context.tx === undefined) throw new Error('no database');
            return settle.call(store, payment, context);
          };
          return store;
        },
        store: postgresStore<pg.PoolClient>(pool),
        parkAfter: 1,
        onPayment() {
          throw new Error('broken');
        },
        onError: (error) => void reports.push(error),
      });
      const { mock, client } = scene;
      const { payment } = await client.payments.create(order('order-4'));
      const delivery = await mock.setStatus(String(payment.referenceNumber), 'paid');
      expect(delivery.attempts[0]?.response?.status).toBe(500);
      expect(reports.at(-1)).toMatchObject({ message: 'no database' });
    });

    it('sends a payment that could be stored only after its lease had expired', async () => {
      const pool = openPool({ application_name: 'late_claim' });
      await using scene = await startScene({
        createOutbox: (client) => postgresStore(pool, { client, leaseMs: 2_000 }),
        onPayment() {},
      });
      const { store } = scene;
      const isLate = async () => {
        const { rows } = await observer.query(
          `SELECT clock_timestamp() - query_start > interval '2.1 s' AS late FROM pg_stat_activity
  WHERE application_name = 'late_claim' AND wait_event_type = 'Lock'`,
        );
        return rows;
      };
      let creating: Promise<unknown> | undefined;
      // Its order is undone.
      const recording = transaction(async (tx) => {
        await store.record(order('order-5'), { tx });
        creating = store.create(order('order-5'));
        await expect.poll(isLate, { timeout: 30_000 }).toEqual([{ late: true }]);
        throw new Error('undone');
      });
      await expect(recording).rejects.toThrow('undone');
      expect(await creating).toMatchObject({ state: 'created', replayed: false });
    });

    it('settles in its own transaction, before the store, if that has another pool', async () => {
      await using scene = await startScene<pg.PoolClient>({
        createOutbox: (client) => postgresStore<pg.PoolClient>(openPool(), { client }),
        store: postgresStore<pg.PoolClient>(openPool()),
        onPayment() {
          throw new Error('never');
        },
        onError: () => {},
      });
      const { mock, store } = scene;
      mock.faults.add({ on: 'request', type: 'lost-answer' });
      await store.create(order('order-2'));
      const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);
      expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(
        500,
      );
      expect(await store.get('order-2')).toMatchObject({
        state: 'created',
        payment: { status: 'paid' },
      });
    });
  },
);
