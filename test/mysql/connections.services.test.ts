import mysqlCallbacks from 'mysql2';
import type { Pool } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../inbox/mysql/server.js';
import { type AskForTexts, mysqlRunner } from '../../src/mysql/runner.js';

const { openPool, query } = useDatabase('mp_storage_runner');
const insert = (reference: string) => `INSERT INTO orders VALUES ('${reference}', 'paid')`;
const written = async (reference: string) =>
  (await query('SELECT 1 FROM orders WHERE reference = ?', [reference])).length;
const inOrder = (statements: readonly string[]) => async (ask: AskForTexts) => {
  let texts: readonly string[] = [];
  for (const statement of statements) texts = await ask(statement);
  return texts;
};
const runnerOn = (pool: Pool) =>
  mysqlRunner(pool, {
    acquireTimeoutMs: 5_000,
    commandTimeoutMs: 5_000,
    createTimeout: () => new Error('no answer in time'),
  });

describe.skipIf(!process.env['MYSQL_URL'])('mysqlRunner', () => {
  it.each([
    ['as it is', []],
    ['without autocommit', ['SET SESSION autocommit = 0']],
  ])('commits each statement, on a session %s', async (name, statements) => {
    const pool = openPool({ connectionLimit: 1 }, statements);
    const runner = runnerOn(pool);
    await runner.run(insert(name));
    expect(await written(name)).toBe(1);
    // Of the latest state, as no transaction is left open.
    expect(await runner.run(`SELECT 'there' FROM orders WHERE reference = '${name}'`)).toHaveLength(
      1,
    );
    await query('DELETE FROM orders WHERE reference = ?', [name]);
    expect(await runner.run(`SELECT 'there' FROM orders WHERE reference = '${name}'`)).toHaveLength(
      0,
    );
  });

  it('runs several as one, or none of them', async () => {
    const runner = runnerOn(openPool({ connectionLimit: 1 }));
    const count = 'SELECT CAST(ROW_COUNT() AS CHAR)';
    const both = inOrder([insert('one'), insert('two'), count]);
    expect(await runner.runTogether(both)).toEqual(['1']);
    const failing = runner.runTogether(inOrder([insert('three'), insert('one')]));
    await expect(failing).rejects.toMatchObject({ errno: 1062 });
    expect(await written('three')).toBe(0);
    expect(await written('two')).toBe(1);
  });

  it.each([
    ['a write', insert('forgotten')],
    ['a read', "SELECT 'read'"],
  ])(
    'does nothing with %s in a transaction that other code forgot to end',
    async (_, statement) => {
      const pool = openPool({ connectionLimit: 1 });
      const connection = await pool.getConnection();
      await connection.query('START TRANSACTION');
      connection.release();
      const runner = runnerOn(pool);
      await expect(runner.run(statement)).rejects.toThrow('with an open transaction');
      expect(await written('forgotten')).toBe(0);
      expect(await runner.run("SELECT 'read'")).toHaveLength(1);
    },
  );

  it('writes in the given transaction, and shows no statement in an error', async () => {
    const pool = openPool();
    const runner = runnerOn(pool);
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await runner.runIn(connection, (ask) => ask(insert('given')));
    const failing = runner.runIn(connection, (ask) => ask("SELECT 'secret' FROM no_such_table"));
    await expect(failing).rejects.not.toHaveProperty('sql');
    await connection.rollback();
    connection.release();
    expect(await written('given')).toBe(0);
  });

  it('refuses anything but a transaction of its pool', async () => {
    const pool = openPool();
    const callbacks = mysqlCallbacks.createConnection({ host: '127.0.0.1', port: 1 });
    callbacks.on('error', () => undefined);
    for (const tx of [pool, callbacks, {}, undefined]) {
      const refused = runnerOn(pool).runIn(tx as never, (ask) => ask(insert('refused')));
      await expect(refused).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'tx',
      });
    }
    callbacks.destroy();
  });
});
