import { randomUUID } from 'node:crypto';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe } from 'vitest';
import { mysqlInbox } from '../../../src/inbox/mysql/mysql-inbox.js';
import { inDatabase } from '../mysql/server.js';
import { runContract } from './run-contract.js';

const waitMs = 1_000;

const uri = process.env['MYSQL_URL'];

describe.skipIf(!uri).each([
  ['with the procedures', true],
  ['without them', false],
])('a MySQL inbox with mysql2, %s', (_, hasProcedures) => {
  const database = `inbox_contract_${randomUUID().replaceAll('-', '')}`;
  const admin = mysql.createPool({ uri: uri ?? '', connectionLimit: 1 });
  const pool = mysql.createPool({ uri: inDatabase(uri ?? '', database) });

  beforeAll(async () => {
    await admin.query(`CREATE DATABASE ${database}`);
    await mysqlInbox(pool).setup();
    if (hasProcedures) return;
    for (const name of ['claim', 'record']) {
      await pool.query(`DROP PROCEDURE payment_inbox_${name}_v1`);
    }
  });
  afterAll(async () => {
    await pool.end();
    await admin.query(`DROP DATABASE ${database}`);
    await admin.end();
  });

  runContract({
    create: () => mysqlInbox(pool, { lockTimeoutMs: waitMs }),
    waitMs,
    async loseClaim() {
      // A case that calls this has one delivery under way.
      const [rows] = await admin.query(
        `SELECT trx_mysql_thread_id AS id FROM information_schema.innodb_trx
         JOIN information_schema.processlist ON id = trx_mysql_thread_id
         WHERE db = ? AND trx_state = 'RUNNING'`,
        [database],
      );
      const [one, ...more] = rows as { id: number }[];
      if (one === undefined || more.length > 0) throw new Error('Not one transaction is open');
      await admin.query(`KILL ${one.id}`);
    },
  });
});
