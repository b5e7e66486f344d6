import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/postgres/inbox-postgres-inbox.js';
import type { PgliteLike, PgPoolLike, Queryable } from '../../../src/postgres/pool.js';
import { describeSqlStore } from '../sql/store-cases.js';
import { change, nothing, START } from './payment-change.js';

/** A database with the inbox's tables, and one of the merchant's: `orders (reference, status)`. */
export interface Store {
  readonly pool: PgPoolLike | PgliteLike;
  /** A statement outside of any transaction. */
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** What holds on a server and on PGlite alike. Every case has its own payments. */
export function describeStore(store: () => Store): void {
  beforeAll(async () => {
    await store().query('TRUNCATE orders, payment_inbox_payments, payment_inbox_events');
  });

  const open = () => postgresInbox(store().pool);
  const count = async (table: string, column: string, reference: string): Promise<number> => {
    const { rows } = await store().query(
      `SELECT count(*)::int AS count FROM ${table} WHERE ${column} = $1`,
      [reference],
    );
    return Number(rows[0]?.['count']);
  };
  const orders = (reference: string) => count('orders', 'reference', reference);
  const recorded = async (reference: string) => ({
    events: await count('payment_inbox_events', 'payment_reference', reference),
    payments: await count('payment_inbox_payments', 'payment_reference', reference),
  });
  const NOTHING = { events: 0, payments: 0 };
  describeSqlStore({
    open,
    count,
    send: (tx, sql) => (tx as Queryable).query(sql),
    recorded: async (reference) => Object.values(await recorded(reference)),
  });

  const insertOrder = (tx: Queryable, reference: string, status = 'paid') =>
    tx.query('INSERT INTO orders (reference, status) VALUES ($1, $2)', [reference, status]);

  describe('the work’s own writes', () => {
    it('are undone when a deferred constraint fails at COMMIT', async () => {
      const failing = open().process(change('deferred'), async ({ tx }) => {
        await insertOrder(tx, 'deferred');
        await insertOrder(tx, 'deferred');
      });
      await expect(failing).rejects.toMatchObject({
        code: 'STORE_FAILED',
        cause: { code: '23505' },
      });
      expect(await orders('deferred')).toBe(0);
      expect(await recorded('deferred')).toEqual(NOTHING);
      expect(await open().process(change('deferred'), nothing)).toBe('processed');
    });
  });

  describe('work that breaks its transaction', () => {
    it('by continuing after a failed statement rejects with TRANSACTION_LOST', async () => {
      const failing = open().process(change('swallowed'), async ({ tx }) => {
        await insertOrder(tx, 'swallowed');
        await tx.query('SELECT 1/0').catch(() => undefined);
      });
      await expect(failing).rejects.toMatchObject({
        code: 'TRANSACTION_LOST',
        message: expect.stringContaining('SAVEPOINT before a statement that may fail'),
        cause: { code: '25P02' },
      });
      expect(await orders('swallowed')).toBe(0);
      expect(await recorded('swallowed')).toEqual(NOTHING);
    });

    it.each(['COMMIT', 'ROLLBACK', 'COMMIT AND CHAIN', 'ROLLBACK AND CHAIN'])(
      'by sending %s rejects with TRANSACTION_LOST',
      async (statement) => {
        const reference = `ended-by-${statement}`;
        const failing = open().process(change(reference), async ({ tx }) => {
          await insertOrder(tx, reference);
          await tx.query(statement);
        });
        await expect(failing).rejects.toMatchObject({
          code: 'TRANSACTION_LOST',
          message: expect.stringContaining('Let the inbox end'),
        });
        expect(await orders(reference)).toBe(0);
        const event = change(reference);
        expect(await open().process(event, nothing)).toBe('processed');
      },
    );

    it('by ending it and failing then rejects with its own error', async () => {
      const failure = new Error('no stock');
      const failing = open().process(change('ended-and-failed'), async ({ tx }) => {
        await tx.query('ROLLBACK').catch(() => undefined);
        throw failure;
      });
      await expect(failing).rejects.toBe(failure);
    });

    it('but undoes a part of it by savepoints is processed', async () => {
      const outcome = await open().process(change('savepoints'), async ({ tx }) => {
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

  describe('a time', () => {
    it.each([
      ['0000-01-01T00:00:00.000Z', '-62167219200000000'],
      ['1969-12-31T23:59:59.999Z', '-1000'],
      // Beyond what a number holds exactly, so rounded to 32 µs; the order stays.
      ['9999-12-31T23:59:59.999Z', '253402300799999000'],
      ['9999-12-31T23:59:59.998Z', '253402300799998000'],
    ])('takes %s', async (time, stored) => {
      const event = change(`time-${time}`, 0, { occurredAt: new Date(time) });
      expect(await open().process(event, nothing)).toBe('processed');
      const { rows } = await store().query(
        `SELECT abs(p.occurred_at_us - $2::bigint) < 32 AS is_near, p.occurred_at_us = e.occurred_at_us AS is_same
         FROM payment_inbox_payments p JOIN payment_inbox_events e USING (payment_reference) WHERE payment_reference = $1`,
        [event.paymentReference, stored],
      );
      expect(rows).toEqual([{ is_near: true, is_same: true }]);
    });
  });

  it('puts the lock_timeout of before back for the work', async () => {
    const show = async (tx: Pick<Store, 'query'>) => (await tx.query('SHOW lock_timeout')).rows[0];
    const before = await show(store());
    expect(before).not.toEqual({ lock_timeout: '0' });
    await open().process(change('lock-timeout'), async ({ tx }) => {
      expect(await show(tx)).toEqual(before);
    });
    expect(await show(store())).toEqual(before);
  });

  describe('work that changes the search_path', () => {
    const tenant = 'mp_inbox_tenant';
    beforeAll(async () => {
      await store().query(`DROP SCHEMA IF EXISTS ${tenant} CASCADE`);
      await store().query(`CREATE SCHEMA ${tenant}`);
    });
    afterAll(() => store().query(`DROP SCHEMA ${tenant} CASCADE`));
    const processIn = (path: string, reference: string, minute: number) =>
      open().process(change(reference, minute), async ({ tx }) => {
        await tx.query(`SET LOCAL search_path TO ${path}`);
      });

    it('to a schema without the tables is recorded', async () => {
      expect(await processIn('pg_catalog', 'no-tables', 1)).toBe('processed');
      expect(await recorded('no-tables')).toEqual({ events: 1, payments: 1 });
    });

    it('to a schema that has such tables too is recorded where it was claimed', async () => {
      const other = postgresInbox(store().pool, { prefix: `${tenant}.payment_inbox_` });
      await other.setup();
      expect(await other.process(change('tenant', 0), nothing)).toBe('processed');
      expect(await processIn(tenant, 'tenant', 2)).toBe('processed');
      expect(await recorded('tenant')).toEqual({ events: 1, payments: 1 });
      expect(await processIn(tenant, 'tenant', 1)).toBe('stale');
      expect(await other.process(change('tenant', 1), nothing)).toBe('processed');
    });
  });

  it('keeps inboxes with different prefixes apart', async () => {
    const other = postgresInbox(store().pool, { prefix: 'Other_' });
    await other.setup();
    expect(await open().process(change('tables'), nothing)).toBe('processed');
    expect(await other.process(change('tables'), nothing)).toBe('processed');
    expect(await other.process(change('tables'), nothing)).toBe('duplicate');
    expect(await count('"Other_events"', 'payment_reference', 'tables')).toBe(1);
    await other.prune(new Date(START.getTime() * 2));
    expect(await open().process(change('tables'), nothing)).toBe('duplicate');
  });

  describe('a table that is not there', () => {
    it.each([
      ['nowhere_', '42P01'],
      ['no_schema.nowhere_', expect.stringMatching(/^(3F000|42P01)$/)],
    ])('with the prefix %s is answered with what to do', async (prefix, code) => {
      const inbox = postgresInbox(store().pool, { prefix });
      const missing = {
        code: 'MISSING_TABLES',
        message: expect.stringContaining('call setup()'),
        cause: { code },
      };
      await expect(inbox.process(change('missing'), nothing)).rejects.toMatchObject(missing);
      await expect(inbox.prune(START)).rejects.toMatchObject(missing);
    });

    it.each(['payments', 'events'])('of the two, %s, is one too', async (table) => {
      const inbox = postgresInbox(store().pool, { prefix: 'half_' });
      await inbox.setup();
      await store().query(`DROP TABLE half_${table}`);
      const missing = {
        message: expect.stringContaining('call setup()'),
        cause: { code: '42P01' },
      };
      await expect(inbox.process(change('half'), nothing)).rejects.toMatchObject(missing);
      await expect(inbox.prune(START)).rejects.toMatchObject(missing);
    });

    it('of the work’s own is the work’s failure', async () => {
      const failing = open().process(change('missing'), async ({ tx }) => {
        await tx.query('SELECT * FROM nowhere');
      });
      await expect(failing).rejects.toMatchObject({ code: '42P01' });
    });
  });

  it('rejects with Postgres’ own error as the cause when the change can not be recorded', async () => {
    await store().query(`CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`);
    await store().query(`CREATE OR REPLACE TRIGGER full_disk BEFORE INSERT ON payment_inbox_events
      FOR EACH ROW WHEN (NEW.payment_reference = 'unrecorded') EXECUTE FUNCTION full_disk()`);
    await expect(open().process(change('unrecorded'), nothing)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { code: '53100' },
    });
    expect(await recorded('unrecorded')).toEqual(NOTHING);
  });

  it('rejects with the work’s own error where it would be busy for one of ours', async () => {
    const failing = open().process(change('own-lock-timeout'), async ({ tx }) => {
      await tx.query("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '55P03'; END $$");
    });
    await expect(failing).rejects.toMatchObject({ code: '55P03' });
  });

  describe('setup', () => {
    it('leaves what is there', async () => {
      await open().process(change('setup'), nothing);
      await open().setup();
      expect(await open().process(change('setup'), nothing)).toBe('duplicate');
    });

    it('makes the index where it alone is missing', async () => {
      const index = 'payment_inbox_events_processed_at';
      await store().query(`DROP INDEX ${index}`);
      await open().setup();
      const { rows } = await store().query('SELECT to_regclass($1)::text AS index', [index]);
      expect(rows).toEqual([{ index }]);
    });
  });

  describe('prune', () => {
    const olden = (reference: string, key: string, days: number) =>
      store().query(
        `UPDATE payment_inbox_events SET processed_at = now() - $3 * interval '1 day' WHERE payment_reference = $1 AND key = $2`,
        [reference, key, days],
      );
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

    it('forgets events from before, and keeps a payment that changed since', async () => {
      const inbox = open();
      await inbox.process(change('pruned', 1), nothing);
      await inbox.process(change('pruned', 2), nothing);
      await inbox.process(change('pruned', 3), nothing);
      await olden('pruned', change('pruned', 1).key, 9);
      await olden('pruned', change('pruned', 2).key, 8);
      expect(await inbox.prune(daysAgo(8.5))).toBe(1);
      expect(await recorded('pruned')).toEqual({ events: 2, payments: 1 });
      expect(await inbox.prune(daysAgo(7))).toBe(1);
      expect(await recorded('pruned')).toEqual({ events: 1, payments: 1 });
      // Forgotten as an event, yet older than the last.
      expect(await inbox.process(change('pruned', 2), nothing)).toBe('stale');
      expect(await inbox.process(change('pruned', 3), nothing)).toBe('duplicate');
    });

    it('forgets a payment without a change since', async () => {
      const inbox = open();
      await inbox.process(change('forgotten', 2), nothing);
      await olden('forgotten', change('forgotten', 2).key, 9);
      await store().query(
        `UPDATE payment_inbox_payments SET changed_at = now() - interval '9 days' WHERE payment_reference = $1`,
        ['forgotten'],
      );
      expect(await inbox.prune(daysAgo(8))).toBe(1);
      expect(await recorded('forgotten')).toEqual(NOTHING);
      expect(await inbox.process(change('forgotten', 1), nothing)).toBe('processed');
    });

    it('counts more than one batch, and forgets their payments', async () => {
      await store().query(
        `INSERT INTO payment_inbox_events (payment_reference, key, occurred_at_us, processed_at)
         SELECT 'many-' || n % 700, n::text, 0, now() - interval '9 days' FROM generate_series(1, 2500) n`,
      );
      await store().query(
        `INSERT INTO payment_inbox_payments (payment_reference, occurred_at_us, changed_at)
         SELECT 'many-' || n, 0, now() - interval '9 days' FROM generate_series(0, 699) n`,
      );
      expect(await open().prune(daysAgo(8))).toBe(2500);
      expect(await open().prune(daysAgo(8))).toBe(0);
      const { rows } = await store().query(
        "SELECT FROM payment_inbox_payments WHERE payment_reference LIKE 'many-%'",
      );
      expect(rows).toEqual([]);
    });

    it.each([undefined, new Date(Number.NaN), '2026-01-01'])('does not take %s', async (value) => {
      await expect(open().prune(value as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'olderThan',
      });
    });
  });
}
