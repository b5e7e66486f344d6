import { randomUUID } from 'node:crypto';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe } from 'vitest';
import { mysqlInbox } from '../../../src/inbox/mysql/mysql-inbox.js';
import { inDatabase } from '../../services/mysql-url.js';
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
  /** The numbers that the server has given to the connections that are in use. */
  const taken = new Set<number>();
  pool.on('acquire', ({ threadId }) => taken.add(threadId));
  pool.on('release', ({ threadId }) => taken.delete(threadId));
  pool.on('connection', (connection) =>
    connection.on('end', () => taken.delete(connection.threadId)),
  );

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
    create: () => mysqlInbox(pool, { lockTimeoutMs: waitMs, keepBodies: true }),
    waitMs,
    keepsFailures: true,
    keepsBodies: true,
    async loseClaim() {
      // A case that calls this has one delivery under way.
      const [one, ...more] = taken;
      if (one === undefined || more.length > 0) throw new Error('Not one connection is taken');
      await admin.query(`KILL ${one}`);
    },
  });
});
