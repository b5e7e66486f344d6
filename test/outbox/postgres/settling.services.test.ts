import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { order, startScene } from '../settling-scene.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])(
  'a receiver with inbox and outbox in Postgres',
  () => {
    const { observer, openPool, transaction } = useSchema();

    it('settles in the transaction of the inbox, before onPayment', async () => {
      let shouldFail = true;
      const states: unknown[] = [];
      const pool = openPool();
      await using scene = await startScene<pg.PoolClient>({
        createOutbox: (client) => postgresOutbox<pg.PoolClient>(pool, { client }),
        inbox: postgresInbox<pg.PoolClient>(pool),
        async onPayment({ payment }, { tx }) {
          const { rows } = await tx.query('SELECT state FROM payment_outbox_payments');
          states.push(...rows);
          await tx.query('UPDATE orders SET status = $1 WHERE reference = $2', [
            payment.status,
            payment.merchantPaymentReference,
          ]);
          if (shouldFail) throw new Error('not yet');
        },
        onError: () => {},
      });
      const { mock, outbox } = scene;
      await transaction(async (tx) => {
        await tx.query(`INSERT INTO orders VALUES ('order-1', 'new')`);
        await outbox.record(order('order-1'), { tx });
      });
      mock.faults.add({ on: 'request', type: 'lost-answer' });
      expect(await outbox.send('order-1')).toMatchObject({ state: 'unresolved' });
      const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);

      const stored = async () => {
        const { rows } = await observer.query(
          `SELECT orders.status, state FROM orders JOIN payment_outbox_payments USING (reference)`,
        );
        return rows;
      };
      expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(
        500,
      );
      expect(states).toEqual([{ state: 'created' }]);
      expect(await stored()).toEqual([{ status: 'new', state: 'unresolved' }]);
      shouldFail = false;
      await mock.setStatus(referenceNumber, 'paid');
      expect(await stored()).toEqual([{ status: 'paid', state: 'created' }]);
    });

    it('settles by itself, and before the inbox, where that has another pool', async () => {
      await using scene = await startScene<pg.PoolClient>({
        createOutbox: (client) => postgresOutbox<pg.PoolClient>(openPool(), { client }),
        inbox: postgresInbox<pg.PoolClient>(openPool()),
        onPayment() {
          throw new Error('never');
        },
        onError: () => {},
      });
      const { mock, outbox } = scene;
      mock.faults.add({ on: 'request', type: 'lost-answer' });
      await outbox.create(order('order-2'));
      const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);
      expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(
        500,
      );
      expect(await outbox.get('order-2')).toMatchObject({
        state: 'created',
        payment: { status: 'paid' },
      });
    });
  },
);
