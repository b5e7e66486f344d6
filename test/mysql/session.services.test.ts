import type { PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, heldWork, nothing } from '../postgres/change.js';
import { outcomeOf } from '../store/outcome-of.js';
import { terminate, useDatabase } from './server.js';

const { openPool, observer } = useDatabase('mp_store_session');

describe.skipIf(!process.env['MYSQL_URL'])('the limits of the session', () => {
  const LIMITS =
    'SELECT @@SESSION.wait_timeout AS idle, @@SESSION.lock_wait_timeout AS tables, @@SESSION.innodb_lock_wait_timeout AS locks';
  const open = () =>
    openPool({ connectionLimit: 1 }, [
      'SET SESSION wait_timeout = 777, SESSION lock_wait_timeout = 888, SESSION innodb_lock_wait_timeout = 99',
    ]);
  const own = { idle: 777, tables: 888, locks: 99 };

  it('end a silent transaction of the work, in MariaDB', async () => {
    const limits = { transactionTimeoutMs: 24_001 };
    const store = mysqlStore<PoolConnection>(open(), limits);
    await outcomeOf(store, change('limits'), async ({ tx }) => {
      const [rows] = await tx.query(`${LIMITS}, @@SESSION.idle_transaction_timeout AS silent`);
      expect(rows).toMatchObject([{ ...own, silent: 30 }]);
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
    const [rows] = await pool.query(
      `${LIMITS}, @@SESSION.autocommit AS autocommit, @@SESSION.idle_transaction_timeout AS silent`,
    );
    expect(rows).toMatchObject([{ ...own, autocommit: 1, silent: 0 }]);
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
    const [rows] = await pool.query(`${LIMITS}, @@SESSION.idle_transaction_timeout AS silent`);
    expect(rows).toMatchObject([{ ...own, silent: 0 }]);
  });
});

describe.skipIf(!process.env['MYSQL_URL'])('what is sent to MySQL', () => {
  it('is two messages for a new change in MariaDB, besides those of the work', async () => {
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
    expect(sent.join(' ')).toBe('BEGIN DO BEGIN');
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
});
