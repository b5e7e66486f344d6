import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.js';
import { useSchema } from '../../inbox/postgres/server.js';
import { drivers, type OpenDatabase } from '../../inbox/sqlite/open-database.js';
import { itKeepsFailures } from './cases.js';

const { openPool } = useSchema('mp_kept_failures');

describe.skipIf(!process.env['DATABASE_URL'])('a receiver with a Postgres inbox', () => {
  itKeepsFailures((options) => postgresInbox(openPool({ max: 2 }), options));
});

describe.each(drivers)('a receiver with a SQLite inbox on $name', ({ open }) => {
  const databases: OpenDatabase[] = [];
  let folder: string;
  const connect = () => {
    const database = open(join(folder, 'inbox.db'));
    databases.push(database);
    return database;
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kept-failures-'));
    sqliteInbox(connect()).setup();
  });
  afterAll(() => {
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true });
  });

  itKeepsFailures((options) => sqliteInbox(connect(), options));
});
