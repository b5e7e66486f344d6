import { randomUUID } from 'node:crypto';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe } from 'vitest';
import { mysqlInbox } from '../../../src/inbox/mysql/mysql-inbox.js';
import { inDatabase } from '../../services/mysql-url.js';
import { providers } from '../mysql/providers/providers.js';
import { killIdleTransaction } from '../mysql/server.js';
import type { OpenProvider } from '../postgres/providers/providers.js';
import { runContract } from './run-contract.js';

const waitMs = 1_000;

const uri = process.env['MYSQL_URL'];

describe.skipIf(!uri).each(Object.entries(providers))('a MySQL inbox with %s', (_, open) => {
  const database = `inbox_contract_${randomUUID().replaceAll('-', '')}`;
  const admin = mysql.createPool({ uri: uri ?? '', connectionLimit: 1 });
  let opened: OpenProvider;

  beforeAll(async () => {
    await admin.query(`CREATE DATABASE ${database}`);
    opened = await open(inDatabase(uri ?? '', database));
    await mysqlInbox(opened.provider).setup();
  });
  afterAll(async () => {
    await opened.close();
    await admin.query(`DROP DATABASE ${database}`);
    await admin.end();
  });

  runContract({
    create: () => mysqlInbox(opened.provider, { lockTimeoutMs: waitMs, keepBodies: true }),
    waitMs,
    keepsFailures: true,
    keepsBodies: true,
    // A case that calls this has one delivery under way.
    loseClaim: () => killIdleTransaction(admin, database),
  });
});
