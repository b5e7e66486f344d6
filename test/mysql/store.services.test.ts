import type { Pool, PoolConnection } from 'mysql2/promise';
import { beforeAll, describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, nothing } from '../postgres/change.js';
import { isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { describeSqlStore } from '../store/sql/store-cases.js';
import { useDatabase } from './server.js';

const { openPool, query } = useDatabase('mp_store_store');

const FORMS: readonly (readonly [string, readonly string[]])[] = [
  ['as it is', []],
  [
    'with other defaults of the session',
    [
      "SET SESSION sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,TRADITIONAL,ONLY_FULL_GROUP_BY'",
      'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
      'SET SESSION TRANSACTION READ ONLY',
      "SET SESSION time_zone = '+05:30'",
      'SET SESSION completion_type = 1',
      'SET NAMES latin1',
      'SET SESSION autocommit = 0',
    ],
  ],
];

describe.skipIf(!process.env['MYSQL_URL']).each(FORMS)('mysqlStore, %s', (form, statements) => {
  let pool: Pool;
  beforeAll(async () => {
    await query('DELETE FROM orders');
    for (const table of ['changes', 'payments', 'failed_changes']) {
      await query(`DELETE FROM payment_store_${table}`);
    }
    if (form.startsWith('with other')) await mysqlStore(openPool()).setup();
    pool = openPool(
      form.startsWith('with other')
        ? {
            rowsAsArray: true,
            nestTables: true,
            dateStrings: true,
            bigNumberStrings: true,
            supportBigNumbers: true,
            decimalNumbers: true,
            namedPlaceholders: true,
            multipleStatements: true,
            typeCast: () => 'cast',
          }
        : {},
      statements,
    );
  });

  const open = () => mysqlStore<PoolConnection>(pool);
  const count = async (table: string, column: string, value: string): Promise<number> =>
    (await query(`SELECT 1 FROM ${table} WHERE ${column} = ?`, [value])).length;
  const orders = (reference: string) => count('orders', 'reference', reference);
  describeSqlStore({
    open,
    count,
    send: (tx, sql) => (tx as PoolConnection).query(sql),
  });
  const insertOrder = (tx: PoolConnection, reference: string, status = 'paid') =>
    tx.query(`INSERT INTO orders (reference, status) VALUES ('${reference}', '${status}')`);

  describe('the work’s own writes', () => {
    it('are kept when the work goes on after a statement that failed', async () => {
      const outcome = await outcomeOf(open(), change('went-on'), async ({ tx }) => {
        await insertOrder(tx, 'went-on');
        await insertOrder(tx, 'went-on').catch(() => undefined);
      });
      expect(outcome).toBe('processed');
      expect(await orders('went-on')).toBe(1);
    });
  });

  it('stores when it was processed, whatever the time zone is', async () => {
    const before = Date.now() - 1_000;
    await outcomeOf(open(), change('processed-at'), nothing);
    const [row] = await query<{ at: number }>(
      "SELECT processed_at_ms AS at FROM payment_store_changes WHERE merchant_payment_reference = 'processed-at'",
    );
    expect(row?.at).toBeGreaterThan(before);
    expect(row?.at).toBeLessThan(Date.now() + 1_000);
  });

  it('puts the settings of the session back, after each outcome', async () => {
    const one = openPool({ connectionLimit: 1 }, statements);
    const store = mysqlStore<PoolConnection>(one);
    const settings = async () => {
      const [rows] = await one.query(
        'SELECT @@wait_timeout AS a, @@lock_wait_timeout AS b, @@innodb_lock_wait_timeout AS c, @@autocommit AS d',
      );
      return rows;
    };
    const before = await settings();
    for (const [minute, work] of [
      [2, nothing],
      [2, nothing],
      [1, nothing],
      [3, () => Promise.reject(new Error('failed'))],
    ] as const) {
      await outcomeOf(store, change('settings', minute), work).catch(() => undefined);
      expect(await settings()).toEqual(before);
    }
  });

  it('keeps stores with different prefixes apart, in another database too', async () => {
    const others = ['Other_', 'mp_store_store.third_'].map((prefix) =>
      mysqlStore(pool, { prefix }),
    );
    for (const other of others) await other.setup();
    for (const store of [open(), ...others]) {
      expect(await outcomeOf(store, change(`tables-${form}`), nothing)).toBe('processed');
      expect(await outcomeOf(store, change(`tables-${form}`), nothing)).toBe('duplicate');
    }
    await others[0]?.prune(new Date(Date.now() + 86_400_000));
    expect(await outcomeOf(open(), change(`tables-${form}`), nothing)).toBe('duplicate');
  });

  describe('a table that is not there', () => {
    it.each([
      ['nowhere_', 1146],
      ['no_database.nowhere_', expect.any(Number)],
    ])('with the prefix %s is answered with what to do', async (prefix, errno) => {
      const store = mysqlStore(pool, { prefix });
      const missing = {
        code: 'MISSING_TABLES',
        message: expect.stringContaining('call setup()'),
        cause: { errno },
      };
      await expect(outcomeOf(store, change('missing'), nothing)).rejects.toMatchObject(missing);
      await expect(store.prune(new Date())).rejects.toMatchObject(missing);
    });
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('mysqlStore, whatever its pool is set to', () => {
  it.each([
    { rowsAsArray: true },
    { nestTables: '_' },
    { nestTables: true },
    { namedPlaceholders: true },
    { typeCast: false },
  ])('knows duplicates and older changes, with %o', async (options) => {
    const store = mysqlStore(openPool(options));
    await store.setup();
    const reference = `pool-${Object.entries(options)}`;
    const told: unknown[] = [];
    for (const minute of [2, 2, 3, 1, 2]) {
      told.push(await isCurrent(store, change(reference, minute)));
    }
    // None for a duplicate, which does not run.
    expect(told).toEqual([true, undefined, true, false, undefined]);
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('a claim', () => {
  it('locks the row of the order, and nothing else of what is known of it', async () => {
    const pool = openPool();
    const store = mysqlStore(pool);
    const freeRows = async (table: string) => {
      const [rows] = await pool.query(
        `SELECT 1 FROM payment_store_${table} WHERE merchant_payment_reference = 'known' FOR UPDATE SKIP LOCKED`,
      );
      return (rows as unknown[]).length;
    };
    await outcomeOf(store, change('known', 1), nothing);
    // The first time with nothing kept.
    for (const kept of [0, 1]) {
      const running = outcomeOf(store, change('known', 2), async () => {
        expect(await freeRows('payments')).toBe(0);
        expect(await freeRows('changes')).toBe(1);
        expect(await freeRows('failed_changes')).toBe(kept);
        throw new Error('failed');
      });
      await expect(running).rejects.toThrow('failed');
    }
  });
});
