import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { ContractService } from '../contract/store/service.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, collect, heldWork, nothing, order } from './change.js';
import { recordMessages } from './recorded-messages.js';
import { terminate, useSchema } from './server.js';

const schema = 'mp_work';
const { openPool, observer, waitForBlocked, statusesOf, countRecorded } = useSchema(schema);
const tenant = 'mp_work_tenant';
const role = 'mp_work_role';

describe.skipIf(!process.env['DATABASE_URL'])('the work of a change', () => {
  const store = postgresStore<pg.PoolClient>(openPool());
  const failures = { parkAfter: 3 };
  const failedChanges = (reference: string) =>
    collect(store.attention({ referenceNumber: change(reference).payment.referenceNumber }));
  const insert = (reference: string) => `INSERT INTO orders VALUES ('${reference}', 'paid')`;

  beforeAll(async () => {
    await observer.query(`CREATE FUNCTION moves() RETURNS text LANGUAGE sql AS
        $$ SELECT pg_catalog.set_config('search_path', '${tenant}', true) $$;
      CREATE FUNCTION takes_role() RETURNS void LANGUAGE plpgsql AS
        $$ BEGIN SET LOCAL ROLE ${role}; END $$;
      CREATE FUNCTION hurries() RETURNS text LANGUAGE sql AS
        $$ SELECT pg_catalog.set_config('lock_timeout', '1ms', true) $$;
      CREATE PROCEDURE ends() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$`);
    await observer.query(`DROP SCHEMA IF EXISTS ${tenant} CASCADE; CREATE SCHEMA ${tenant}`);
    await postgresStore(observer, { prefix: `${tenant}.payment_store_` }).setup();
    await observer.query(
      `DO $$ BEGIN IF to_regrole('${role}') IS NULL THEN CREATE ROLE ${role}; END IF; END $$`,
    );
    return async () => {
      await observer.query(`DROP SCHEMA ${tenant} CASCADE; DROP ROLE ${role}`);
    };
  });

  describe('that ends its transaction', () => {
    const ends = [
      'COMMIT',
      'ROLLBACK',
      'END',
      "PREPARE TRANSACTION 'mp'",
      'SELECT 1; COMMIT',
      'SELECT 1; COMMIT; SELECT 1',
      'SELECT 1; ROLLBACK; SELECT 1',
      'SELECT 1; END',
      'SELECT 1; COMMIT AND CHAIN',
      'SELECT 1; COMMIT; BEGIN',
      "SELECT '; '; COMMIT; SELECT 1",
      'SELECT 1; /* now */ COMMIT; SELECT 1',
    ];
    it.each(ends)(
      'by %s is refused before that is sent, undone, kept and run again',
      async (end) => {
        const reference = `end-${ends.indexOf(end)}`;
        const failing = outcomeOf(store, change(reference, 0, { failures }), async ({ tx }) => {
          await tx.query(insert(reference));
          await tx.query(end).catch(() => undefined);
        });
        await expect(failing).rejects.toMatchObject({
          code: 'TRANSACTION_LOST',
          message: expect.stringContaining('Let the store end'),
        });
        expect(await statusesOf(reference)).toEqual([]);
        expect(await failedChanges(reference)).toMatchObject([
          { attempts: 1, error: { code: 'TRANSACTION_LOST' } },
        ]);
        expect(await outcomeOf(store, change(reference), nothing)).toBe('processed');
        expect(await failedChanges(reference)).toEqual([]);
      },
    );

    it.each([
      ['a DO block', 'DO $$ BEGIN COMMIT; END $$'],
      ['a procedure', 'CALL ends()'],
    ])('by %s is refused by Postgres', async (name, statement) => {
      const failing = outcomeOf(store, change(name, 0, { failures }), async ({ tx }) => {
        await tx.query(insert(name));
        await tx.query(statement);
      });
      await expect(failing).rejects.toMatchObject({ code: '2D000' });
      expect(await statusesOf(name)).toEqual([]);
      expect(await failedChanges(name)).toMatchObject([{ attempts: 1, error: { code: '2D000' } }]);
    });

    it.each([
      'a text; commit; in a literal',
      "two '' quotes; commit; in it",
      'a backslash \\; commit; in it',
    ])('does not by %s', async (text) => {
      const outcome = outcomeOf(store, change(text), async ({ tx }) => {
        await tx.query(
          `SELECT '${text}'; SELECT E'it\\'s; commit; '; SELECT $a$ ; commit; $$ $a$; SELECT "x; commit;" FROM (SELECT 1 AS "x; commit;") one`,
        );
      });
      expect(await outcome).toBe('processed');
    });
  });

  describe('that changes its session for the transaction', () => {
    const ways = [
      ['the search_path', `SET LOCAL search_path TO ${tenant}`],
      ['the schema', `SET LOCAL SCHEMA '${tenant}'`],
      ['the search_path in a function', 'SELECT moves()'],
      ['the role', `SET LOCAL ROLE ${role}`],
      ['the role in a function', 'SELECT takes_role()'],
      ['the lock_timeout', "SET LOCAL lock_timeout TO '1ms'"],
      ['the lock_timeout in a function', 'SELECT hurries()'],
      ['all of it', 'RESET ALL'],
    ].map(([name = '', statement = '']) => [name.replaceAll(' ', '-'), statement] as const);
    it.each(ways)('%s is recorded where it was claimed', async (name, statement) => {
      const work = async ({ tx }: { tx: pg.PoolClient }) => void (await tx.query(statement));
      expect(await outcomeOf(store, change(name), work)).toBe('processed');
      expect(await countRecorded(name)).toBe(1);
      expect(await outcomeOf(store, change(name), work)).toBe('duplicate');
    });

    it.each(ways)('%s and fails is kept where it was claimed', async (name, statement) => {
      const failing = outcomeOf(store, change(name, 1, { failures }), async ({ tx }) => {
        await tx.query(statement);
        throw new Error('out of stock');
      });
      await expect(failing).rejects.toThrow('out of stock');
      expect(await failedChanges(name)).toMatchObject([{ attempts: 1 }]);
    });

    it.each(ways)('%s leaves nothing behind on the connection', async (_, statement) => {
      const pool = openPool({ max: 1 });
      const show = async () =>
        (
          await pool.query(
            "SELECT current_user, current_setting('search_path'), current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle",
          )
        ).rows;
      const before = await show();
      const one = postgresStore<pg.PoolClient>(pool);
      await outcomeOf(
        one,
        change(`after-${statement}`),
        async ({ tx }) => void (await tx.query(statement)),
      );
      expect(await show()).toEqual(before);
      expect(pool.totalCount).toBe(1);
    });
  });

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

    it('keeps its failure and settles its payment in the same transaction', async () => {
      const { payments, take, event, referenceNumber } = await unresolved('same-transaction');
      const failing = outcomeOf(payments, event, async ({ tx }) => {
        await tx.query(insert('same-transaction'));
        throw new Error('out of stock');
      });
      await expect(failing).rejects.toThrow('out of stock');
      const sent = take();
      expect(sent.filter((text) => text.startsWith('BEGIN'))).toHaveLength(1);
      expect(sent.at(-1)).toMatch(/^ROLLBACK TO SAVEPOINT [\s\S]*failed_changes[\s\S]*; COMMIT$/);
      expect(await statusesOf('same-transaction')).toEqual([]);
      expect(await payments.get('same-transaction')).toMatchObject(settled);
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
      ['the end of its transaction', (tx: pg.PoolClient) => tx.query('COMMIT')],
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

    it.each([
      ['throws', async () => Promise.reject(new Error('out of stock'))],
      ['loses its connection', async (tx: pg.PoolClient) => terminate(observer, tx)],
    ])('when it %s, is seen as parked by a delivery that waits for it', async (name, fail) => {
      const event = change(`parked-${name}`, 1, { failures: { parkAfter: 1 } });
      const blocking = heldWork<pg.PoolClient>();
      const first = outcomeOf(store, event, async (context) => {
        await blocking.work(context);
        await fail(context.tx);
      });
      first.catch(() => undefined);
      await blocking.started;
      const other = postgresStore(openPool(), { lockTimeoutMs: 60_000 });
      let runs = 0;
      const second = outcomeOf(other, event, async () => {
        runs += 1;
      });
      second.catch(() => undefined);
      await waitForBlocked(1);
      blocking.finish();
      await expect(first).rejects.toThrow();
      if (name === 'throws') {
        // What it waited for is committed with the lock that it gets.
        expect(await second).toBe('parked');
        expect(runs).toBe(0);
      } else {
        // The lock is gone with the connection, before the failure can be stored.
        expect(await second).toBe('processed');
        expect(runs).toBe(1);
      }
    });
  });
});
