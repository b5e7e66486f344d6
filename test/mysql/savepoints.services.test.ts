import type { PoolConnection } from 'mysql2/promise';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, nothing } from '../postgres/change.js';
import { outcomeOf } from '../store/outcome-of.js';
import { useDatabase } from './server.js';

const { openPool, query, waitForBlocked } = useDatabase('mp_store_savepoints');

interface CallbackConnection {
  query(
    sql: string,
    answered?: (error: Error | null, rows?: unknown) => void,
  ): {
    once(event: string, listener: () => void): unknown;
  };
  beginTransaction(answered: (error: Error | null) => void): void;
  commit(answered: (error: Error | null) => void): void;
  rollback(answered: (error: Error | null) => void): void;
}

describe.skipIf(!process.env['MYSQL_URL'])('tx of a pool of mysql2', () => {
  const pool = openPool({ connectionLimit: 1, multipleStatements: true });
  const store = mysqlStore<PoolConnection>(pool);
  beforeAll(async () => {
    await query('CREATE PROCEDURE commits() BEGIN COMMIT; END');
    await query('CREATE PROCEDURE commits_and_begins() BEGIN COMMIT; START TRANSACTION; END');
  });

  const statuses = async (reference: string): Promise<unknown[]> => {
    const rows = await query('SELECT status FROM orders WHERE reference = ? ORDER BY 1', [
      reference,
    ]);
    return rows.map(({ status }) => status);
  };
  const insert = (reference: string, status = 'new') =>
    `INSERT INTO orders VALUES ('${reference}', '${status}')`;

  it('is the connection of mysql2, and stays the pool’s after release()', async () => {
    const outcome = await outcomeOf(store, change('connection'), async ({ tx }) => {
      const plain = await openPool().getConnection();
      expect(tx).toBeInstanceOf(plain.constructor);
      plain.release();
      expect(tx.escape("a'b")).toBe("'a\\'b'");
      const [header] = await tx.execute('INSERT INTO orders VALUES (?, ?)', ['connection', 'new']);
      expect(header).toMatchObject({ affectedRows: 1 });
      tx.release();
      await tx.query(insert('connection', 'released'));
      // What the driver's own methods write to the connection, they write to the real one.
      await tx.ping();
      const prepared = await tx.prepare('SELECT ? AS one');
      expect((await prepared.execute([1]))[0]).toEqual([{ one: 1 }]);
      await prepared.close();
      expect(tx.threadId).toBeTypeOf('number');
    });
    expect(outcome).toBe('processed');
    expect(await statuses('connection')).toEqual(['new', 'released']);
  });

  it.each([
    [
      'by its methods',
      (tx: PoolConnection) =>
        [tx.beginTransaction, tx.rollback, tx.commit].map((method) => () => method.call(tx)),
    ],
    [
      'by statements',
      (tx: PoolConnection) =>
        ['START TRANSACTION', 'ROLLBACK', 'COMMIT'].map((sql) => () => tx.query(sql)),
    ],
    [
      'by prepared ones',
      (tx: PoolConnection) =>
        ['begin', 'rollback work', 'commit'].map((sql) => () => tx.execute({ sql })),
    ],
  ])('makes savepoints of transactions that are begun and ended %s', async (name, methodsOf) => {
    const outcome = await outcomeOf(store, change(name), async ({ tx }) => {
      const [begin, rollBack, commit] = methodsOf(tx) as (() => Promise<unknown>)[];
      await tx.query(insert(name, 'before'));
      await begin?.();
      await tx.query(insert(name, 'undone'));
      await rollBack?.();
      await begin?.();
      await tx.query(insert(name, 'nested'));
      await commit?.();
    });
    expect(outcome).toBe('processed');
    expect(await statuses(name)).toEqual(['before', 'nested']);
    const failing = outcomeOf(store, change(name, 1), async ({ tx }) => {
      const [begin, , commit] = methodsOf(tx) as (() => Promise<unknown>)[];
      await begin?.();
      await tx.query(insert(name, 'gone'));
      await commit?.();
      throw new Error('all of it');
    });
    await expect(failing).rejects.toThrow('all of it');
    expect(await statuses(name)).toEqual(['before', 'nested']);
  });

  it('makes them on the connection with callbacks too, which some ORMs take', async () => {
    const outcome = await outcomeOf(store, change('callbacks'), async ({ tx }) => {
      const core = tx.connection as unknown as CallbackConnection;
      const call = (act: (answered: (error: Error | null) => void) => void) =>
        new Promise<void>((resolve, reject) => act((error) => (error ? reject(error) : resolve())));
      await call((answered) => core.beginTransaction(answered));
      await call((answered) => core.query(insert('callbacks', 'undone'), answered));
      await call((answered) => core.rollback(answered));
      await call((answered) => core.query('START TRANSACTION', answered));
      await call((answered) => core.query(insert('callbacks', 'nested'), answered));
      await call((answered) => core.commit(answered));
      await expect(
        call((answered) => core.query('SELECT nothing', answered)),
      ).rejects.toMatchObject({
        errno: 1054,
      });
      await new Promise<void>((resolve) => core.query('SELECT 1').once('end', resolve));
    });
    expect(outcome).toBe('processed');
    expect(await statuses('callbacks')).toEqual(['nested']);
  });

  it.each([
    'COMMIT',
    'rollback',
    'COMMIT AND CHAIN',
    'SET autocommit = 1',
    'SET @@SESSION.autocommit=0',
    "XA START 'x'",
    '/* a comment */ COMMIT # another',
    '/*!40000 COMMIT */',
    'INSERT INTO orders VALUES (1, 2); COMMIT',
    'TRUNCATE TABLE orders',
    'create table no (a int)',
    'ALTER TABLE orders ADD COLUMN more int',
    'DROP TABLE orders',
    'LOCK TABLES orders WRITE',
    'RENAME TABLE orders TO more_orders',
    'GRANT SELECT ON *.* TO nobody',
  ])('refuses %s before it is sent', async (statement) => {
    const reference = `refused-${statement}`.slice(0, 60);
    const failing = outcomeOf(store, change(reference), async ({ tx }) => {
      await tx.query("INSERT INTO orders VALUES ('refused', 'new')");
      await tx.query(statement).catch(() => undefined);
    });
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('was not sent'),
    });
    expect(await statuses('refused')).toEqual([]);
    expect(await outcomeOf(store, change(reference), nothing)).toBe('processed');
  });

  it.each(['reset', 'changeUser', 'destroy', 'end'] as const)('refuses %s()', async (method) => {
    const failing = outcomeOf(store, change(method), async ({ tx }) => {
      await Promise.resolve(tx[method]({})).catch(() => undefined);
    });
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining(
        `${method.toUpperCase()}() was not sent`.slice(method.length),
      ),
    });
  });

  it.each([
    ['CREATE TEMPORARY TABLE IF NOT EXISTS temporary (a int)'],
    ['DROP TEMPORARY TABLE IF EXISTS temporary'],
    ['SET @autocommit_note = 1'],
    ["SELECT 'COMMIT; ROLLBACK'"],
    ['SAVEPOINT one'],
  ])('lets %s through', async (statement) => {
    const outcome = await outcomeOf(store, change(`through-${statement}`), async ({ tx }) => {
      await tx.query(statement);
    });
    expect(outcome).toBe('processed');
  });

  it('notices at once when a procedure commits, and sends nothing after it', async () => {
    const failing = outcomeOf(store, change('procedure'), async ({ tx }) => {
      await tx.query('CALL commits()');
      await expect(tx.query(insert('procedure'))).rejects.toMatchObject({
        code: 'TRANSACTION_LOST',
      });
    });
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('perhaps in a procedure'),
    });
    expect(await statuses('procedure')).toEqual([]);
    expect(await outcomeOf(store, change('procedure'), nothing)).toBe('processed');
  });

  it('records nothing when a procedure commits and begins another transaction', async () => {
    const failing = outcomeOf(store, change('hidden'), async ({ tx }) => {
      await tx.query('CALL commits_and_begins()');
    });
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('perhaps in a procedure'),
    });
    expect(await outcomeOf(store, change('hidden'), nothing)).toBe('processed');
  });

  it('records nothing when the work goes on after a deadlock, which has undone it', async () => {
    const two = openPool({ connectionLimit: 1 });
    await query(insert('deadlock', 'a'));
    await query(insert('deadlock', 'b'));
    const lock = (status: string) =>
      `UPDATE orders SET status = status WHERE reference = 'deadlock' AND status = '${status}'`;
    const other = await two.getConnection();
    const failing = outcomeOf(store, change('deadlock'), async ({ tx }) => {
      // The one that has changed less is the victim.
      await other.query('START TRANSACTION');
      await other.query(insert('deadlock', 'more'));
      await other.query(insert('deadlock', 'and more'));
      await other.query(lock('a'));
      await tx.query(lock('b'));
      const blocked = other.query(lock('b'));
      await waitForBlocked(1);
      await expect(tx.query(lock('a'))).rejects.toMatchObject({ errno: 1213 });
      await blocked;
      await expect(tx.query(insert('deadlock', 'late'))).rejects.toThrow('deadlock');
    });
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      cause: { errno: 1213 },
    });
    await other.query('ROLLBACK');
    other.release();
    expect(await statuses('deadlock')).toEqual(['a', 'b']);
  });

  describe('after a lock wait timeout', () => {
    const lock = 'SELECT id FROM locked WHERE id = 1 FOR UPDATE';
    beforeAll(async () => {
      await query('CREATE TABLE locked (id INT PRIMARY KEY) ENGINE = InnoDB');
      await query('INSERT INTO locked VALUES (1)');
    });

    /** An store whose server waits a second for a lock, and rolls back then if it is set so. */
    async function openWaiting({ rollsBack }: { rollsBack: boolean }) {
      await query(`DELETE FROM orders WHERE reference LIKE 'timeout%'`);
      const blocker = await openPool({ connectionLimit: 1 }).getConnection();
      await blocker.query('START TRANSACTION');
      await blocker.query(lock);
      const waiting = openPool({ connectionLimit: 1 });
      const connection = await waiting.getConnection();
      await connection.query('SET SESSION innodb_lock_wait_timeout = 1');
      // innodb_rollback_on_timeout can be set at the start of the server alone.
      const core = connection.connection as unknown as CallbackConnection;
      const send = core.query.bind(core);
      core.query = (sql, answered) =>
        send(sql, (error, rows) => {
          const isTimeout = (error as { errno?: number } | null)?.errno === 1205;
          if (isTimeout && rollsBack) send('ROLLBACK', () => answered?.(error, rows));
          else answered?.(error, rows);
        });
      connection.release();
      onTestFinished(async () => {
        await blocker.query('ROLLBACK');
        blocker.release();
      });
      return mysqlStore<PoolConnection>(waiting);
    }

    type Send = (tx: PoolConnection, sql: string) => Promise<unknown>;
    const ways: readonly (readonly [string, Send])[] = [
      ['promises', (tx, sql) => tx.query(sql)],
      [
        'callbacks',
        (tx, sql) =>
          new Promise<void>((resolve, reject) => {
            const core = tx.connection as unknown as CallbackConnection;
            core.query(sql, (error) => (error === null ? resolve() : reject(error)));
          }),
      ],
    ];

    it.each(ways)('work that goes on by %s is recorded', async (way, send) => {
      const waiting = await openWaiting({ rollsBack: false });
      const outcome = await outcomeOf(waiting, change(`timeout-kept-${way}`), async ({ tx }) => {
        await send(tx, insert('timeout-before'));
        await expect(send(tx, lock)).rejects.toMatchObject({ errno: 1205 });
        await send(tx, insert('timeout-after'));
      });
      expect(outcome).toBe('processed');
      expect(await statuses('timeout-after')).toEqual(['new']);
    });

    it.each(ways)(
      'of a server that rolls back then, work that goes on by %s writes nothing',
      async (_, send) => {
        const waiting = await openWaiting({ rollsBack: true });
        const failing = outcomeOf(waiting, change('timeout-lost'), async ({ tx }) => {
          await send(tx, insert('timeout-before'));
          await expect(send(tx, lock)).rejects.toMatchObject({ errno: 1205 });
          await expect(send(tx, insert('timeout-after'))).rejects.toThrow(
            'innodb_rollback_on_timeout',
          );
        });
        await expect(failing).rejects.toMatchObject({
          code: 'TRANSACTION_LOST',
          cause: { errno: 1205 },
        });
        expect(await statuses('timeout-before')).toEqual([]);
        expect(await statuses('timeout-after')).toEqual([]);
      },
    );
  });

  it('leads the error of a statement to the work', async () => {
    const failing = outcomeOf(store, change('error'), async ({ tx }) => {
      await tx.query('SELECT nothing');
    });
    await expect(failing).rejects.toMatchObject({ errno: 1054 });
  });

  it('sends nothing for work that has ended, because the connection may be in another transaction', async () => {
    let late: PoolConnection | undefined;
    await outcomeOf(store, change('late'), async ({ tx }) => {
      late = tx;
    });
    await outcomeOf(store, change('other'), async () => {
      await expect(late?.query(insert('late'))).rejects.toThrow('The query was not sent');
    });
    expect(await statuses('late')).toEqual([]);
  });

  it('is rolled back when the work returns before its query, and runs again', async () => {
    for (const send of [
      (tx: PoolConnection) => void tx.query(insert('forgotten')),
      (tx: PoolConnection) =>
        void (tx.connection as unknown as CallbackConnection).query(insert('forgotten')),
    ]) {
      const forgetful = outcomeOf(store, change('forgotten'), async ({ tx }) => send(tx));
      await expect(forgetful).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
      expect(await statuses('forgotten')).toEqual([]);
    }
    expect(await outcomeOf(store, change('forgotten'), nothing)).toBe('processed');
  });
});
