import { setTimeout as pause } from 'node:timers/promises';
import mysql, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { inDatabase } from '../services/mysql-url.js';

const uri = process.env['MYSQL_URL'] ?? 'mysql://127.0.0.1';

/** A database of the server for one test file, with the store's tables and `orders`; dropped after it. */
export function useDatabase(database: string) {
  const pools: Pool[] = [];
  const admin = mysql.createPool({ uri, connectionLimit: 1 });

  /** A pool whose connections are in the database. */
  const openPool = (options: PoolOptions = {}, statements: readonly string[] = []): Pool => {
    const pool = mysql.createPool({ uri: inDatabase(uri, database), ...options });
    // Sent before anything else: the driver sends one statement after another.
    pool.pool.on('connection', (connection) => {
      for (const statement of statements) connection.query(statement);
    });
    pools.push(pool);
    return pool;
  };
  const observer = openPool();

  beforeAll(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${database}`);
    await admin.query(`CREATE DATABASE ${database}`);
    await observer.query(
      'CREATE TABLE orders (reference varchar(200), status varchar(200), UNIQUE (reference, status))',
    );
    await mysqlStore(observer).setup();
  });

  /** What a failed test left open has locks, for which the rest would wait. */
  const endSessions = async (): Promise<void> => {
    const [rows] = await admin.query('SELECT id FROM information_schema.processlist WHERE db = ?', [
      database,
    ]);
    for (const { id } of rows as { id: number }[]) {
      // It may have ended since.
      await admin.query(`KILL ${id}`).catch(() => undefined);
    }
  };

  let hasFailed = false;
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    if (hasFailed) await endSessions();
    else await Promise.all(pools.map((pool) => pool.end()));
    await admin.query(`DROP DATABASE ${database}`);
    await admin.end();
  });

  /** The result of a statement, outside any transaction of the store. */
  const query = async <Row = Record<string, unknown>>(
    sql: string,
    values: unknown[] = [],
  ): Promise<Row[]> => {
    const [rows] = await observer.query(sql, values);
    return rows as Row[];
  };

  /** The statuses of an order that the work has stored. */
  const statusesOf = async (reference: string): Promise<unknown[]> => {
    const sql = 'SELECT status FROM orders WHERE reference = ? ORDER BY 1';
    return (await query(sql, [reference])).map(({ status }) => status);
  };

  /** How many changes of an order are recorded as processed. */
  const countRecorded = async (reference: string): Promise<number> => {
    const sql = 'SELECT 1 FROM payment_store_changes WHERE merchant_payment_reference = ?';
    return (await query(sql, [reference])).length;
  };

  /** Settles when so many connections of the file wait for a row. */
  const waitForBlocked = async (count: number): Promise<void> => {
    for (;;) {
      const [row] = await query<{ blocked: number }>(
        `SELECT COUNT(*) AS blocked FROM information_schema.innodb_trx
         JOIN information_schema.processlist ON id = trx_mysql_thread_id
         WHERE trx_state = 'LOCK WAIT' AND db = ?`,
        [database],
      );
      if (row?.blocked === count) return;
      // The server takes a look at its transactions no sooner than 100 ms after the last.
      await pause(110);
    }
  };

  /** Runs the body in a transaction at the server's own isolation, which is rolled back when it rejects. */
  const transaction = async (body: (tx: PoolConnection) => Promise<void>): Promise<void> => {
    const connection = await observer.getConnection();
    try {
      await connection.beginTransaction();
      await body(connection);
      await connection.commit();
    } catch (error) {
      await connection.rollback();
      throw error;
    } finally {
      connection.release();
    }
  };

  return {
    openPool,
    observer,
    query,
    statusesOf,
    countRecorded,
    waitForBlocked,
    transaction,
    database,
  };
}

/** Ends the connection as an administrator does. */
export async function terminate(observer: Pool, connection: PoolConnection): Promise<void> {
  await observer.query(`KILL ${connection.threadId}`);
}

/** Ends the only connection to a database that is in a transaction, as an administrator does. */
export async function killIdleTransaction(admin: Pool, database: string): Promise<void> {
  for (;;) {
    const [rows] = await admin.query(
      `SELECT id FROM information_schema.innodb_trx
       JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE db = ?`,
      [database],
    );
    const [one, ...more] = rows as { id: number }[];
    if (more.length > 0) throw new Error(`${more.length + 1} transactions are open, not one`);
    if (one !== undefined) return void (await admin.query(`KILL ${one.id}`));
    // The server takes a look at its transactions no sooner than 100 ms after the last.
    await pause(110);
  }
}
