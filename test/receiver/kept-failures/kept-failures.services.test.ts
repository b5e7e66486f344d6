import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { sqliteStore } from '../../../src/sqlite/sqlite-store.js';
import { useSchema } from '../../postgres/server.js';
import { recordLines } from '../../protocol/recorded-lines.js';
import { drivers, type OpenDatabase } from '../../sqlite/open-database.js';
import { createScene, post } from '../scene.js';
import { itKeepsFailures } from './cases.js';

const { openPool } = useSchema('mp_kept_failures');

describe.skipIf(!process.env['DATABASE_URL'])('a receiver with a store in Postgres', () => {
  itKeepsFailures(() => postgresStore(openPool({ max: 2 })));
});

describe.each(drivers)('a receiver with a store in SQLite, on $name', ({ open }) => {
  const databases: OpenDatabase[] = [];
  let folder: string;
  const connect = () => {
    const database = open(join(folder, 'payments.db'));
    databases.push(database);
    return database;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kept-failures-'));
    await sqliteStore(connect()).setup();
  });
  afterAll(() => {
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true });
  });

  itKeepsFailures(() => sqliteStore(connect()));

  it('reports a failure that it can not store, after that of onPayment', async () => {
    const database = connect();
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON payment_store_failed_changes
        BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
    try {
      const { lines, logger } = recordLines();
      const reason = new Error('out of stock');
      const scene = createScene({
        store: sqliteStore(database),
        parkAfter: 1,
        logger,
        onPayment: () => Promise.reject(reason),
      });
      expect(await scene.receive(post())).toMatchObject({ status: 500, outcome: 'failed' });
      expect(scene.reports).toMatchObject([
        { error: reason, callback: { key: expect.any(String) } },
        {
          error: {
            code: 'STORE_FAILED',
            cause: { message: expect.stringContaining('the disk is full') },
          },
          callback: { key: expect.any(String) },
        },
      ]);
      expect(lines).toMatchObject([{ level: 'error', fields: { code: 'STORE_FAILED' } }]);
    } finally {
      database.exec('DROP TRIGGER full');
    }
  });
});
