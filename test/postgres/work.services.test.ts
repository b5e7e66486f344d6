import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { ContractService } from '../contract/store/service.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, collect, heldWork, nothing, order } from './change.js';
import { recordMessages } from './recorded-messages.js';
import { useSchema } from './server.js';

const { openPool, statusesOf, countRecorded } = useSchema('mp_work');

describe.skipIf(!process.env['DATABASE_URL'])('the work of a change', () => {
  const store = postgresStore<pg.PoolClient>(openPool());
  const failures = { parkAfter: 3 };
  const insert = (reference: string) => `INSERT INTO orders VALUES ('${reference}', 'paid')`;

  describe('that fails', () => {
    const paid = (reference: string, more = {}) =>
      change(reference, 0, { status: 'paid', failures, ...more });
    /** A store that has sent a payment whose answer was lost, and the change that settles it. */
    const unresolved = async (reference: string) => {
      const service = new ContractService();
      const { pool, take } = (() => {
        const made = openPool();
        return { pool: made, ...recordMessages(made) };
      })();
      const payments = postgresStore<pg.PoolClient>(pool, { client: service.client });
      service.answer(reference, 'answer-lost');
      await payments.create(order(reference));
      expect(await payments.get(reference)).toMatchObject({ state: 'unresolved' });
      const [referenceNumber = ''] = service.paymentsOf(reference);
      take();
      return { payments, take, event: paid(reference, { referenceNumber }), referenceNumber };
    };
    const settled = { state: 'created', payment: { status: 'paid' } };

    it('keeps its failure and settles its payment in one transaction, after its own is rolled back', async () => {
      const { payments, take, event, referenceNumber } = await unresolved('one-transaction');
      const failing = outcomeOf(payments, event, async ({ tx }) => {
        await tx.query(insert('one-transaction'));
        throw new Error('out of stock');
      });
      await expect(failing).rejects.toThrow('out of stock');
      const sent = take();
      expect(sent.filter((text) => text.startsWith('BEGIN'))).toHaveLength(2);
      expect(sent).toContain('ROLLBACK');
      expect(sent.at(-1)).toMatch(/UPDATE[\s\S]*failed_changes[\s\S]*; COMMIT$/);
      expect(await statusesOf('one-transaction')).toEqual([]);
      expect(await payments.get('one-transaction')).toMatchObject(settled);
      expect(await collect(payments.attention({ referenceNumber }))).toMatchObject([
        { attempts: 1 },
      ]);
    });

    it.each([
      ['a statement that fails', (tx: pg.PoolClient) => tx.query('SELECT 1/0')],
      [
        'a statement that fails, swallowed',
        (tx: pg.PoolClient) => tx.query('SELECT 1/0').catch(() => undefined),
      ],
      [
        'its connection lost',
        (tx: pg.PoolClient) => tx.query('SELECT pg_terminate_backend(pg_backend_pid())'),
      ],
      [
        'its connection lost, swallowed',
        (tx: pg.PoolClient) =>
          tx.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined),
      ],
      [
        'a constraint at COMMIT',
        (tx: pg.PoolClient) => tx.query("INSERT INTO orders VALUES ('twice', 'a'), ('twice', 'a')"),
      ],
      [
        'a query that is not awaited',
        async (tx: pg.PoolClient) => void tx.query('SELECT pg_sleep(0.01)'),
      ],
    ])('by %s keeps its failure and settles its payment', async (name, fail) => {
      const reference = name.replaceAll(/\W/g, '-');
      const { payments, event, referenceNumber } = await unresolved(reference);
      const failing = outcomeOf(payments, event, async ({ tx }) => {
        await tx.query(insert(reference));
        await fail(tx);
      });
      await expect(failing).rejects.toThrow();
      expect(await statusesOf(reference)).toEqual([]);
      expect(await countRecorded(reference)).toBe(0);
      expect(await payments.get(reference)).toMatchObject(settled);
      expect(await collect(payments.attention({ referenceNumber }))).toMatchObject([
        { attempts: 1, parked: false },
      ]);
      expect(await outcomeOf(payments, event, nothing)).toBe('processed');
    });

    it('by hanging keeps its failure, settles its payment, and leaves the order free', async () => {
      const { event, referenceNumber } = await unresolved('hangs');
      const impatient = postgresStore<pg.PoolClient>(openPool(), { transactionTimeoutMs: 300 });
      const held = heldWork<pg.PoolClient>();
      await expect(outcomeOf(impatient, event, held.work)).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
      });
      expect(await collect(store.attention({ referenceNumber }))).toMatchObject([{ attempts: 1 }]);
      expect(await outcomeOf(store, event, nothing)).toBe('processed');
      held.finish();
    });
  });
});
