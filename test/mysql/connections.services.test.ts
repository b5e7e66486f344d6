import mysqlCallbacks from 'mysql2';
import type { Pool } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { Location } from '../../src/mysql/location.js';
import { poolConnections } from '../../src/mysql/pool-connections.js';
import type { Connections } from '../../src/store/sql/transactions.js';
import { useDatabase } from './server.js';

const { openPool, query } = useDatabase('mp_store_connections');
const insert = (reference: string) => `INSERT INTO orders VALUES ('${reference}', 'paid')`;
const written = async (reference: string) =>
  (await query('SELECT 1 FROM orders WHERE reference = ?', [reference])).length;
const limits = {
  acquireTimeoutMs: 5_000,
  lockTimeoutMs: 5_000,
  commandTimeoutMs: 5_000,
  transactionTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
};
const connectionsOf = (pool: Pool) => poolConnections(pool, limits, new Location());
/** Runs the statements as one. */
const together = <Tx>(connections: Connections<Tx>, statements: readonly string[]) =>
  connections.run(async (transaction) => {
    await transaction.begin(limits, []);
    let result: readonly string[] = [];
    for (const statement of statements) result = await transaction.ask(statement);
    return { end: 'commit', result, undo: false, statements: [] };
  });

describe.skipIf(!process.env['MYSQL_URL'])('the connections of a pool', () => {
  it('change a row and read, each in a transaction of its own', async () => {
    const connections = connectionsOf(openPool({ connectionLimit: 1 }));
    expect(await connections.change(() => insert('alone'))).toBe(true);
    expect(await written('alone')).toBe(1);
    const found = () => connections.read("SELECT 'there' FROM orders WHERE reference = 'alone'");
    expect(await found()).toHaveLength(1);
    await query("DELETE FROM orders WHERE reference = 'alone'");
    // Of the latest state, as no transaction is left open.
    expect(await found()).toHaveLength(0);
  });

  it.each([
    ['without autocommit', 'SET SESSION autocommit = 0'],
    ['whose transactions are read-only', 'SET SESSION TRANSACTION READ ONLY'],
  ])(
    'leave a change to a step on a session %s, and read the latest state',
    async (name, statement) => {
      const connections = connectionsOf(openPool({ connectionLimit: 1 }, [statement]));
      expect(await connections.change(() => insert(name))).toBeUndefined();
      expect(await written(name)).toBe(0);
      const found = () =>
        connections.read(`SELECT 'there' FROM orders WHERE reference = '${name}'`);
      expect(await found()).toHaveLength(0);
      await query(insert(name));
      expect(await found()).toHaveLength(1);
      await together(connections, [insert(`${name}, a step`)]);
      expect(await written(`${name}, a step`)).toBe(1);
    },
  );

  it('run several statements as one, or none of them', async () => {
    const connections = connectionsOf(openPool({ connectionLimit: 1 }));
    const count = 'SELECT CAST(ROW_COUNT() AS CHAR)';
    expect(await together(connections, [insert('one'), insert('two'), count])).toEqual(['1']);
    const failing = together(connections, [insert('three'), insert('one')]);
    await expect(failing).rejects.toMatchObject({ errno: 1062 });
    expect(await written('three')).toBe(0);
    expect(await written('two')).toBe(1);
  });

  it.each<[string, (connections: Connections<unknown>) => Promise<unknown>]>([
    ['a change', (connections) => connections.change(() => insert('forgotten'))],
    ['a read', (connections) => connections.read("SELECT 'read'")],
    ['a step', (connections) => together(connections, [insert('forgotten')])],
  ])('do nothing with %s in a transaction that other code forgot to end', async (_, act) => {
    const pool = openPool({ connectionLimit: 1 });
    const connection = await pool.getConnection();
    await connection.query('START TRANSACTION');
    connection.release();
    const connections = connectionsOf(pool);
    await expect(act(connections)).rejects.toThrow('with an open transaction');
    expect(await written('forgotten')).toBe(0);
    expect(await connections.read("SELECT 'read'")).toHaveLength(1);
  });

  it('write in the given transaction, and show no statement in an error', async () => {
    const pool = openPool();
    const connections = connectionsOf(pool);
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connections.runIn(connection, (ask) => ask(insert('given')));
    const failing = connections.runIn(connection, (ask) =>
      ask("SELECT 'secret' FROM no_such_table"),
    );
    await expect(failing).rejects.not.toHaveProperty('sql');
    await connection.rollback();
    connection.release();
    expect(await written('given')).toBe(0);
  });

  it('refuse anything but a transaction of the pool', async () => {
    const pool = openPool();
    const callbacks = mysqlCallbacks.createConnection({ host: '127.0.0.1', port: 1 });
    callbacks.on('error', () => undefined);
    for (const tx of [pool, callbacks, {}, undefined]) {
      const refused = connectionsOf(pool).runIn(tx as never, (ask) => ask(insert('refused')));
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    }
    callbacks.destroy();
  });
});
