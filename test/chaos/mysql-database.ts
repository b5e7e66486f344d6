import mysql, { type RowDataPacket } from 'mysql2/promise';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { startMariadb } from '../services/start-mariadb.js';
import type { Database } from './database.js';
import { type EffectRow, toEffect } from './history.js';

// No constraint that could hide what the store lets through.
const MERCHANT_TABLES = [
  'CREATE TABLE effects (id bigint AUTO_INCREMENT PRIMARY KEY, `key` text, reference text, order_reference text, status text, is_current boolean, is_second boolean, began_at_ms bigint, done_at_ms bigint)',
  'CREATE TABLE orders (reference varchar(200) PRIMARY KEY, status text)',
];

export async function startMysqlDatabase(): Promise<Database> {
  const server = await startMariadb();
  const query = async <Row>(sql: string): Promise<Row[]> => {
    const connection = await mysql.createConnection(server.url);
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql);
      return rows as Row[];
    } finally {
      connection.destroy();
    }
  };
  const pool = mysql.createPool(server.url);
  await mysqlStore(pool).setup();
  await pool.end();
  for (const table of MERCHANT_TABLES) await query(table);
  return {
    url: server.url,
    guarantee: 'exactly-once',
    isReadableWhileDown: false,
    async cutConnections() {
      const others = await query<{ id: number }>(
        "SELECT id FROM information_schema.processlist WHERE db = 'test' AND id <> CONNECTION_ID()",
      );
      // One may have ended by itself.
      await Promise.allSettled(others.map(({ id }) => query(`KILL ${id}`)));
    },
    crash: server.kill,
    restart: server.restart,
    // The store lets one change of a payment in at a time, so that their numbers tell the order.
    async readEffects() {
      const rows = await query<EffectRow>(
        'SELECT `key`, reference, order_reference AS `order`, status, is_current AS isCurrent, is_second AS isSecond, began_at_ms AS beganAtMs, done_at_ms AS doneAtMs FROM effects ORDER BY id',
      );
      return rows.map(toEffect);
    },
    async readOrders() {
      const rows = await query<{ reference: string; status: string }>('SELECT * FROM orders');
      return new Map(rows.map(({ reference, status }) => [reference, status]));
    },
    stop: server.stop,
  };
}
