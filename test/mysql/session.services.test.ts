import type { PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, heldWork, nothing } from '../postgres/change.js';
import { isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { terminate, useDatabase } from './server.js';

const { openPool, observer, statusesOf, countRecorded } = useDatabase('mp_store_session');

describe.skipIf(!process.env['MYSQL_URL'])('the limits of the session', () => {
  const LIMITS =
    'SELECT @@SESSION.wait_timeout AS idle, @@SESSION.lock_wait_timeout AS tables, @@SESSION.innodb_lock_wait_timeout AS locks';
  const open = () =>
    openPool({ connectionLimit: 1 }, [
      'SET SESSION wait_timeout = 777, SESSION lock_wait_timeout = 888, SESSION innodb_lock_wait_timeout = 99',
    ]);
  const own = { idle: 777, tables: 888, locks: 99 };

  it('are those of the store while the work runs, but for rows, and no longer than its own', async () => {
    const pool = open();
    const limits = { lockTimeoutMs: 2_500, idleTimeoutMs: 30_000 };
    await outcomeOf(mysqlStore<PoolConnection>(pool, limits), change('limits'), async ({ tx }) => {
      const [rows] = await tx.query(LIMITS);
      const [[version]] = (await tx.query('SELECT VERSION() AS text')) as unknown as [
        [{ text: string }],
      ];
      // MySQL has no limit for a single statement that waits for a row.
      const locks = version.text.includes('MariaDB') ? 99 : 3;
      expect(rows).toMatchObject([{ idle: 30, tables: 3, locks }]);
    });
    const long = { lockTimeoutMs: 2_000_000, idleTimeoutMs: 2_000_000 };
    await outcomeOf(mysqlStore<PoolConnection>(pool, long), change('limits', 1), async ({ tx }) => {
      const [rows] = await tx.query(LIMITS);
      expect(rows).toMatchObject([own]);
    });
  });

  it.each<[string, (pool: ReturnType<typeof open>) => Promise<unknown>]>([
    ['a commit', (pool) => outcomeOf(mysqlStore(pool), change('commit'), nothing)],
    [
      'work that fails',
      (pool) => outcomeOf(mysqlStore(pool), change('fails'), () => Promise.reject(new Error('no'))),
    ],
    [
      'a rollback',
      async (pool) => {
        await outcomeOf(mysqlStore(pool), change('twice'), nothing);
        return outcomeOf(mysqlStore(pool), change('twice'), nothing);
      },
    ],
    [
      'work whose statement fails',
      (pool) =>
        outcomeOf(mysqlStore<PoolConnection>(pool), change('statement'), async ({ tx }) => {
          await tx.query('SELECT nothing');
        }),
    ],
    [
      'a deadlock that the work swallows',
      (pool) =>
        outcomeOf(mysqlStore<PoolConnection>(pool), change('deadlock'), async ({ tx }) => {
          const deadlock =
            "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'deadlock'";
          await tx.query(deadlock).catch(() => undefined);
        }),
    ],
  ])('are its own again after %s', async (_, act) => {
    const pool = open();
    await act(pool).catch(() => undefined);
    const [rows] = await pool.query(`${LIMITS}, @@SESSION.autocommit AS autocommit`);
    expect(rows).toMatchObject([{ ...own, autocommit: 1 }]);
    const connection = await pool.getConnection();
    await connection.query('START TRANSACTION');
    const count = async () => (await connection.query('SELECT COUNT(*) AS n FROM orders'))[0];
    const before = await count();
    await observer.query('INSERT INTO orders VALUES (UUID(), ?)', ['since']);
    const after = await count();
    await connection.query('ROLLBACK');
    // At REPEATABLE READ, the level of the session.
    expect(after).toEqual(before);
    connection.release();
  });

  it('are its own again after a wait for another callback', async () => {
    const held = heldWork();
    const first = outcomeOf(mysqlStore(openPool()), change('busy'), held.work);
    await held.started;
    const pool = open();
    const impatient = mysqlStore(pool, { lockTimeoutMs: 5 });
    expect(await outcomeOf(impatient, change('busy', 1), nothing)).toBe('busy');
    held.finish();
    await first;
    const [rows] = await pool.query(LIMITS);
    expect(rows).toMatchObject([own]);
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('what is sent to MySQL', () => {
  it('is nine statements for a new change, besides those of the work', async () => {
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore<PoolConnection>(pool);
    await outcomeOf(store, change('sent'), nothing);
    const sent: string[] = [];
    const connection = await pool.getConnection();
    const core = connection.connection as unknown as Record<
      'query',
      (...args: unknown[]) => unknown
    >;
    const query = core.query.bind(core);
    core.query = (...args) => {
      sent.push(/\w+/.exec(String(args[0]).replaceAll(/\/\*.*?\*\//g, ''))?.[0] ?? '');
      return query(...args);
    };
    connection.release();
    await outcomeOf(store, change('sent', 1), async ({ tx }) => void (await tx.query('DO 1')));
    expect(sent.join(' ')).toBe('SET INSERT SELECT SAVEPOINT DO RELEASE INSERT UPDATE COMMIT SET');
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('a connection of the pool', () => {
  it('that the server has closed while it was idle is replaced for the first callback', async () => {
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore(pool);
    await outcomeOf(store, change('before'), nothing);
    const connection = await pool.getConnection();
    const { threadId } = connection;
    connection.release();
    // The first statement finds that out, as on a network that says nothing of it.
    connection.connection.removeAllListeners('end');
    await terminate(observer, connection);
    expect(await outcomeOf(store, change('after'), nothing)).toBe('processed');
    const next = await pool.getConnection();
    expect(next.threadId).not.toBe(threadId);
    next.release();
  });

  it('that was released with tables locked serves callbacks', async () => {
    const pool = openPool({ connectionLimit: 1 });
    await pool.query('LOCK TABLES orders READ');
    expect(await outcomeOf(mysqlStore(pool), change('locked'), nothing)).toBe('processed');
  });

  it('that was released in another database serves callbacks in that of the pool', async () => {
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore<PoolConnection>(pool);
    await outcomeOf(store, change('database'), async ({ tx }) => {
      await tx.query('USE information_schema');
    });
    expect(await outcomeOf(store, change('database', 1), nothing)).toBe('processed');
    expect(await outcomeOf(store, change('database', 1), nothing)).toBe('duplicate');
    expect(await countRecorded('database')).toBe(2);
    expect(await statusesOf('database')).toEqual([]);
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('a session that shows few rows', () => {
  it('still knows which changes were processed, and which is the newest', async () => {
    const store = mysqlStore(openPool({}, ['SET SESSION sql_select_limit = 1']));
    for (const minute of [5, 6, 7]) {
      expect(await outcomeOf(store, change('few', minute), nothing)).toBe('processed');
    }
    expect(await isCurrent(store, change('few', 1))).toBe(false);
    for (const minute of [5, 6, 7]) {
      expect(await outcomeOf(store, change('few', minute), nothing)).toBe('duplicate');
    }
  });
});
