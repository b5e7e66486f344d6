import { beforeAll, describe, expect, it } from 'vitest';
import type { PgliteLike, PgPoolLike, Queryable } from '../../src/postgres/pool.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { databaseForms } from '../../src/store/sql/sql.js';
import { isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { describeSqlStore } from '../store/sql/store-cases.js';
import { change, nothing, START } from './change.js';

/** A database with the store's tables, and one of the merchant's: `orders (reference, status)`. */
export interface Database {
  readonly pool: PgPoolLike | PgliteLike;
  /** A statement outside of any transaction. */
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** What holds on a server and on PGlite alike. Every case has its own orders. */
export function describeStore(database: () => Database): void {
  beforeAll(async () => {
    await database().query(
      'TRUNCATE orders, payment_store_payments, payment_store_changes, payment_store_failed_changes',
    );
  });

  const open = () => postgresStore(database().pool);
  const count = async (table: string, column: string, reference: string): Promise<number> => {
    const { rows } = await database().query(
      `SELECT count(*)::int AS count FROM ${table} WHERE ${column} = $1`,
      [reference],
    );
    return Number(rows[0]?.['count']);
  };
  const orders = (reference: string) => count('orders', 'reference', reference);
  const recorded = (reference: string) =>
    count('payment_store_changes', 'merchant_payment_reference', databaseForms.toName(reference));
  describeSqlStore({ open, count, send: (tx, sql) => (tx as Queryable).query(sql) });

  const insertOrder = (tx: Queryable, reference: string, status = 'paid') =>
    tx.query('INSERT INTO orders (reference, status) VALUES ($1, $2)', [reference, status]);

  it('undoes the work’s writes when a deferred constraint fails at COMMIT', async () => {
    const failing = outcomeOf(open(), change('deferred'), async ({ tx }) => {
      await insertOrder(tx, 'deferred');
      await insertOrder(tx, 'deferred');
    });
    await expect(failing).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('nothing was written'),
      cause: { code: '23505' },
    });
    expect(await orders('deferred')).toBe(0);
    expect(await recorded('deferred')).toBe(0);
    expect(await outcomeOf(open(), change('deferred'), nothing)).toBe('processed');
  });

  describe('work that breaks its transaction', () => {
    it('by continuing after a failed statement rejects with TRANSACTION_LOST', async () => {
      const failing = outcomeOf(open(), change('swallowed'), async ({ tx }) => {
        await insertOrder(tx, 'swallowed');
        await tx.query('SELECT 1/0').catch(() => undefined);
      });
      await expect(failing).rejects.toMatchObject({
        code: 'TRANSACTION_LOST',
        message: expect.stringContaining('SAVEPOINT before a statement that may fail'),
        cause: { code: '25P02' },
      });
      expect(await orders('swallowed')).toBe(0);
      expect(await recorded('swallowed')).toBe(0);
    });

    it('by ending it and failing then rejects with its own error', async () => {
      const failure = new Error('no stock');
      const failing = outcomeOf(open(), change('ended-and-failed'), async ({ tx }) => {
        await tx.query('ROLLBACK').catch(() => undefined);
        throw failure;
      });
      await expect(failing).rejects.toBe(failure);
    });

    it('but undoes a part of it by savepoints is processed', async () => {
      const outcome = await outcomeOf(open(), change('savepoints'), async ({ tx }) => {
        await insertOrder(tx, 'savepoints', 'kept');
        await tx.query('SAVEPOINT one');
        await insertOrder(tx, 'savepoints', 'undone');
        await tx.query('SELECT 1/0').catch(() => tx.query('ROLLBACK TO SAVEPOINT one'));
        // Left open: COMMIT ends it.
        await tx.query('SAVEPOINT two');
      });
      expect(outcome).toBe('processed');
      expect(await orders('savepoints')).toBe(1);
    });
  });

  it('leaves the limits of the session as they were', async () => {
    const show = async () =>
      (
        await database().query(
          "SELECT current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('synchronous_commit') AS durable",
        )
      ).rows[0];
    const before = await show();
    await outcomeOf(open(), change('limits'), nothing);
    await outcomeOf(open(), change('limits', 1), () => Promise.reject('failed')).catch(() => {});
    expect(await show()).toEqual(before);
  });

  it('keeps stores with different prefixes apart', async () => {
    const other = postgresStore(database().pool, { prefix: 'Other_' });
    await other.setup();
    expect(await outcomeOf(open(), change('tables'), nothing)).toBe('processed');
    expect(await outcomeOf(other, change('tables'), nothing)).toBe('processed');
    expect(await outcomeOf(other, change('tables'), nothing)).toBe('duplicate');
    expect(await count('"Other_changes"', 'merchant_payment_reference', 'tables')).toBe(1);
    await other.prune(new Date(START.getTime() * 2));
    expect(await outcomeOf(open(), change('tables'), nothing)).toBe('duplicate');
  });

  describe('a table that is not there', () => {
    it.each([
      ['nowhere_', '42P01'],
      ['no_schema.nowhere_', expect.stringMatching(/^(3F000|42P01)$/)],
    ])('with the prefix %s is answered with what to do', async (prefix, code) => {
      const store = postgresStore(database().pool, { prefix });
      const missing = {
        code: 'MISSING_TABLES',
        message: expect.stringContaining('call setup()'),
        cause: { code },
      };
      await expect(outcomeOf(store, change('missing'), nothing)).rejects.toMatchObject(missing);
      await expect(store.prune(START)).rejects.toMatchObject(missing);
    });

    it.each(['payments', 'changes', 'failed_changes', 'second_payments'])(
      'of the four, %s, is one too, and setup() makes it again',
      async (table) => {
        const store = postgresStore(database().pool, { prefix: 'half_' });
        await store.setup();
        await database().query(`DROP TABLE half_${table}`);
        const missing = {
          message: expect.stringContaining('call setup()'),
          cause: { code: '42P01' },
        };
        // As a rule, a claim looks for neither failures nor second payments.
        if (['payments', 'changes'].includes(table)) {
          await expect(outcomeOf(store, change('half'), nothing)).rejects.toMatchObject(missing);
        }
        await expect(store.prune(START)).rejects.toMatchObject(missing);
        await store.setup();
        const outcome = await outcomeOf(store, change(`half-${table}`), nothing);
        expect(outcome).toBe('processed');
      },
    );
  });

  it('rejects with Postgres’ own error as the cause when the change can not be recorded', async () => {
    await database().query(`CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`);
    await database().query(`CREATE OR REPLACE TRIGGER full_disk BEFORE INSERT ON payment_store_changes
      FOR EACH ROW WHEN (NEW.merchant_payment_reference = 'unrecorded') EXECUTE FUNCTION full_disk()`);
    const failing = outcomeOf(open(), change('unrecorded'), ({ tx }) =>
      insertOrder(tx, 'unrecorded').then(nothing),
    );
    await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED', cause: { code: '53100' } });
    expect([await orders('unrecorded'), await recorded('unrecorded')]).toEqual([0, 0]);
  });

  it('rejects with the work’s own error where it would be busy for one of ours', async () => {
    const failing = outcomeOf(open(), change('own-lock-timeout'), async ({ tx }) => {
      await tx.query("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '55P03'; END $$");
    });
    await expect(failing).rejects.toMatchObject({ code: '55P03' });
  });

  describe('prune', () => {
    const olden = (reference: string, key: string, days: number) =>
      database().query(
        `UPDATE payment_store_changes SET processed_at_ms = $3 WHERE merchant_payment_reference = $1 AND change_key = $2`,
        [reference, key, daysAgo(days).getTime()],
      );
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

    it('forgets changes from before, and keeps an order that changed since', async () => {
      const store = open();
      for (const minute of [1, 2, 3]) await outcomeOf(store, change('pruned', minute), nothing);
      await olden('pruned', change('pruned', 1).key, 9);
      await olden('pruned', change('pruned', 2).key, 8);
      expect(await store.prune(daysAgo(8.5))).toBe(1);
      expect(await recorded('pruned')).toBe(2);
      expect(await store.prune(daysAgo(7))).toBe(1);
      expect(await recorded('pruned')).toBe(1);
      // Forgotten as a change, yet older than the last.
      expect(await isCurrent(store, change('pruned', 2))).toBe(false);
      expect(await outcomeOf(store, change('pruned', 3), nothing)).toBe('duplicate');
    });

    it('counts more than one batch of each kind', async () => {
      await database().query(`INSERT INTO payment_store_changes
        SELECT 'many-' || n % 700, 'many', n::text, 0, 0, 1000 FROM generate_series(1, 450) n`);
      await database().query(`INSERT INTO payment_store_failed_changes
        SELECT 'many', 'many', n, '', 0, 1, 1000, 1000, 0, '', 'e30=' FROM generate_series(1, 450) n`);
      await database().query(`INSERT INTO payment_store_payments
        (merchant_payment_reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
        SELECT 'many-' || n, '', '', 'elsewhere', 0, 1000, 1000 FROM generate_series(1, 450) n`);
      expect(await open().prune(new Date(2_000))).toBe(2 * 450);
      expect(await open().prune(new Date(2_000))).toBe(0);
      expect(await count('payment_store_failed_changes', 'raw_body', 'e30=')).toBe(0);
      await database().query(
        "DELETE FROM payment_store_failed_changes WHERE reference_number = 'many'",
      );
      expect(await count('payment_store_payments', 'recorded_at_ms', '1000')).toBe(0);
    });
  });
}
