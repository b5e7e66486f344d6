import type { Pool, PoolConnection } from 'mysql2/promise';
import { beforeAll, describe, expect, it } from 'vitest';
import type { InboxOutcome } from '../../src/store/inbox.js';
import { mysqlInbox } from '../../src/mysql/inbox-mysql-inbox.js';
import { change, nothing } from '../postgres/payment-change.js';
import { describeSqlStore } from '../sql/store-cases.js';
import { useDatabase } from './server.js';

const { openPool, query } = useDatabase('mp_inbox_store');

const FORMS: readonly (readonly [string, readonly string[]])[] = [
  ['with the procedures', []],
  ['without the procedures', []],
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

describe.skipIf(!process.env['MYSQL_URL']).each(FORMS)('mysqlInbox, %s', (form, statements) => {
  let pool: Pool;
  beforeAll(async () => {
    await query('DELETE FROM orders');
    await query('DELETE FROM payment_inbox_events');
    for (const name of form.startsWith('without') ? ['claim', 'record'] : []) {
      await query(`DROP PROCEDURE payment_inbox_${name}_v1`);
    }
    if (form.startsWith('with other')) await mysqlInbox(openPool()).setup();
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

  const open = () => mysqlInbox<PoolConnection>(pool);
  const count = async (table: string, column: string, value: string): Promise<number> =>
    (await query(`SELECT 1 FROM ${table} WHERE ${column} = ?`, [value])).length;
  const orders = (reference: string) => count('orders', 'reference', reference);
  const recorded = (reference: string) =>
    count('payment_inbox_events', 'payment_reference', reference);
  describeSqlStore({
    open,
    count,
    send: (tx, sql) => (tx as PoolConnection).query(sql),
    recorded: async (reference) => [await recorded(reference)],
  });
  const insertOrder = (tx: PoolConnection, reference: string, status = 'paid') =>
    tx.query(`INSERT INTO orders (reference, status) VALUES ('${reference}', '${status}')`);

  describe('the work’s own writes', () => {
    it('are hidden from other connections until they are committed', async () => {
      await open().process(change('unseen'), async ({ tx }) => {
        await insertOrder(tx, 'unseen');
        expect(await orders('unseen')).toBe(0);
      });
      expect(await orders('unseen')).toBe(1);
    });

    it('of a later change are not held up by a failure that was stored too late', async () => {
      const failures = { parkAfter: 1, blockParked: true };
      await open().process(change('late-failure', 1), nothing);
      // By another process, in which the same change failed in the meantime.
      await query(`INSERT INTO payment_inbox_failures (payment_reference, event_key, occurred_at_us, attempts,
          first_failed_at_us, last_failed_at_us, parked, error)
        SELECT payment_reference, event_key, occurred_at_us, 1, 0, 0, 1, '{}'
        FROM payment_inbox_events WHERE payment_reference = 'late-failure'`);
      const later = open().process(change('late-failure', 2, { failures }), nothing);
      expect(await later).toBe('processed');
    });

    it('are kept when the work goes on after a statement that failed', async () => {
      const outcome = await open().process(change('went-on'), async ({ tx }) => {
        await insertOrder(tx, 'went-on');
        await insertOrder(tx, 'went-on').catch(() => undefined);
      });
      expect(outcome).toBe('processed');
      expect(await orders('went-on')).toBe(1);
    });
  });

  it('stores when it was processed, whatever the time zone is', async () => {
    const before = Date.now() * 1000 - 1_000_000;
    await open().process(change('processed-at'), nothing);
    const [row] = await query<{ at: number }>(
      "SELECT processed_at_us AS at FROM payment_inbox_events WHERE payment_reference = 'processed-at'",
    );
    expect(row?.at).toBeGreaterThan(before);
    expect(row?.at).toBeLessThan(Date.now() * 1000 + 1_000_000);
  });

  it('puts the settings of the session back, after each outcome', async () => {
    const one = openPool({ connectionLimit: 1 }, statements);
    const inbox = mysqlInbox<PoolConnection>(one);
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
      await inbox.process(change('settings', minute), work).catch(() => undefined);
      expect(await settings()).toEqual(before);
    }
  });

  it('records where it claimed when the work uses another database', async () => {
    const one = openPool({ connectionLimit: 1 }, statements);
    const outcome = await mysqlInbox<PoolConnection>(one).process(change('use'), async ({ tx }) => {
      await tx.query('USE information_schema');
    });
    expect(outcome).toBe('processed');
    expect(await recorded('use')).toBe(1);
  });

  it('keeps inboxes with different prefixes apart, in another database too', async () => {
    const others = ['Other_', 'mp_inbox_store.third_'].map((prefix) =>
      mysqlInbox(pool, { prefix }),
    );
    for (const other of others) await other.setup();
    for (const inbox of [open(), ...others]) {
      expect(await inbox.process(change(`tables-${form}`), nothing)).toBe('processed');
      expect(await inbox.process(change(`tables-${form}`), nothing)).toBe('duplicate');
    }
    await others[0]?.prune(new Date(Date.now() + 86_400_000));
    expect(await open().process(change(`tables-${form}`), nothing)).toBe('duplicate');
  });

  it('lists more failed changes than fit on a page, each once, in order', async () => {
    const failures = 'payment_inbox_failures';
    await query(`DELETE FROM ${failures}`);
    await query(`INSERT INTO ${failures} (payment_reference, event_key, occurred_at_us, attempts,
        first_failed_at_us, last_failed_at_us, parked, error)
      SELECT IF(lock_number % 2, 'pages', 'other'), CONCAT('key-', lock_number), 0, 1,
        1600000000000000 + lock_number % 7, 1600000000000007, 0, '{"name":"Error","message":""}'
      FROM payment_inbox_locks WHERE lock_number < 500`);
    const inOrder = 'ORDER BY first_failed_at_us, payment_reference, event_key';
    for (const [options, condition, count] of [
      [{}, 'TRUE', 500],
      [{ paymentReference: 'pages' }, "payment_reference = 'pages'", 250],
    ] as const) {
      const listed: string[] = [];
      for await (const { key, rawBody } of mysqlInbox(pool).failedChanges(options)) {
        listed.push(key);
        expect(rawBody).toBeUndefined();
      }
      expect(listed).toHaveLength(count);
      const rows = await query<{ event_key: string }>(
        `SELECT event_key FROM ${failures} WHERE ${condition} ${inOrder}`,
      );
      expect(listed).toEqual(rows.map(({ event_key }) => event_key));
    }
  });

  describe('a table that is not there', () => {
    it.each([
      ['nowhere_', 1146],
      ['no_database.nowhere_', expect.any(Number)],
    ])('with the prefix %s is answered with what to do', async (prefix, errno) => {
      const inbox = mysqlInbox(pool, { prefix });
      const missing = {
        code: 'MISSING_TABLES',
        message: expect.stringContaining('call setup()'),
        cause: { errno },
      };
      await expect(inbox.process(change('missing'), nothing)).rejects.toMatchObject(missing);
      await expect(inbox.prune(new Date())).rejects.toMatchObject(missing);
    });

    it('or has lost its rows, is one too', async () => {
      const inbox = mysqlInbox(pool, { prefix: 'empty_' });
      await inbox.setup();
      await query('DELETE FROM empty_locks');
      await expect(inbox.process(change(`empty-${form}`), nothing)).rejects.toMatchObject({
        code: 'MISSING_TABLES',
      });
      await inbox.setup();
      expect(await inbox.process(change(`empty-${form}`), nothing)).toBe('processed');
    });
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('mysqlInbox, whatever its pool is set to', () => {
  it.each([
    { rowsAsArray: true },
    { nestTables: '_' },
    { namedPlaceholders: true },
    { typeCast: false },
  ])('knows duplicates and older changes, with %o', async (options) => {
    const inbox = mysqlInbox(openPool(options));
    await inbox.setup();
    const reference = `pool-${Object.keys(options)}`;
    const outcomes: InboxOutcome[] = [];
    for (const minute of [2, 2, 3, 1, 2]) {
      outcomes.push(await inbox.process(change(reference, minute), nothing));
    }
    expect(outcomes).toEqual(['processed', 'duplicate', 'processed', 'stale', 'duplicate']);
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('the procedure that claims', () => {
  it('gives nothing for the first change of a payment', async () => {
    const pool = openPool();
    await mysqlInbox(pool).setup();
    const claim = "CALL payment_inbox_claim_v1('first', 5, 60)";
    const connection = await pool.getConnection();
    const [first] = await connection.query(claim);
    await connection.query('ROLLBACK');
    await mysqlInbox(pool).process(change('first'), nothing);
    const [second] = await connection.query(claim);
    await connection.query('ROLLBACK');
    connection.destroy();
    expect(first).not.toBeInstanceOf(Array);
    expect(second).toEqual([[expect.any(Object)], expect.any(Object)]);
  });

  it('locks nothing of what is known of the payment', async () => {
    const pool = openPool();
    const inbox = mysqlInbox(pool);
    const isFree = async (table: string) => {
      const [rows] = await pool.query(
        `SELECT 1 FROM payment_inbox_${table} WHERE payment_reference = 'known' FOR UPDATE SKIP LOCKED`,
      );
      return rows;
    };
    await inbox.process(change('known', 1), nothing);
    // The first time with nothing kept.
    for (const tables of [['events'], ['events', 'failures']]) {
      const running = inbox.process(change('known', 2), async () => {
        for (const table of tables) expect(await isFree(table)).toHaveLength(1);
        throw new Error('failed');
      });
      await expect(running).rejects.toThrow('failed');
    }
  });

  // A row that says nothing known must not count as nothing known of the payment.
  it.each(['done', 'paid 7 key', 'parked key', 'parked 7', ' parked 7 key'])(
    'fails with the answer of another version, and nothing runs: %s',
    async (answer) => {
      const pool = openPool();
      await pool.query('DROP PROCEDURE payment_inbox_claim_v1');
      await pool.query(
        `CREATE PROCEDURE payment_inbox_claim_v1(IN payment text, IN lock_seconds int, IN idle_seconds int)
         BEGIN START TRANSACTION; SELECT '${answer}'; END`,
      );
      const unexpected = () => Promise.reject(new Error('the work ran'));
      await expect(mysqlInbox(pool).process(change('strange'), unexpected)).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining("another version's procedures"),
      });
      await pool.query('DROP PROCEDURE payment_inbox_claim_v1');
      await mysqlInbox(pool).setup();
      expect(await mysqlInbox(pool).process(change(`strange ${answer}`), nothing)).toBe(
        'processed',
      );
    },
  );
});
