import type { PoolConnection } from 'mysql2/promise';
import { beforeAll, describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change } from '../postgres/change.js';
import { outcomeOf } from '../store/outcome-of.js';
import { describeTx } from '../store/sql/tx-cases.js';
import { useDatabase } from './server.js';

const { openPool, query, statusesOf, waitForBlocked } = useDatabase('mp_store_tx');

describe.skipIf(!process.env['MYSQL_URL'])('tx of a pool of mysql2', () => {
  const pool = openPool({ connectionLimit: 1, multipleStatements: true });
  const store = mysqlStore<PoolConnection>(pool);
  beforeAll(async () => {
    await query('CREATE PROCEDURE commits() BEGIN COMMIT; END');
    await query('CREATE PROCEDURE commits_and_begins() BEGIN COMMIT; START TRANSACTION; END');
  });

  const insert = (reference: string, status = 'new') =>
    `INSERT INTO orders VALUES ('${reference}', '${status}')`;

  describeTx({
    store,
    send: (tx, sql) => tx.query(sql),
    statuses: statusesOf,
    ends: [
      [['COMMIT'], 'ended the transaction'],
      [['ROLLBACK'], 'ended the transaction'],
      [['COMMIT', 'BEGIN'], 'ended the transaction'],
      [['ROLLBACK', 'BEGIN'], 'ended the transaction'],
      [['CREATE TABLE more (a int)'], 'ended the transaction'],
      [['CALL commits()'], 'perhaps in a procedure'],
      [['CALL commits_and_begins()'], 'perhaps in a procedure'],
    ],
  });

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
    expect(await statusesOf('connection')).toEqual(['new', 'released']);
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
    });
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('deadlock'),
    });
    await other.query('ROLLBACK');
    other.release();
    expect(await statusesOf('deadlock')).toEqual(['a', 'b']);
  });
});
