import type { Pool, PoolConnection } from 'mysql2/promise';
import { beforeAll, describe } from 'vitest';
import { mysqlOutbox } from '../../../src/outbox/mysql/mysql-outbox.js';
import { runContract } from '../contract/run-contract.js';
import { useDatabase } from './server.js';

const FORMS: readonly (readonly [string, readonly string[]])[] = [
  ['as it comes', []],
  [
    'with other defaults of the session',
    [
      "SET SESSION sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,TRADITIONAL,ONLY_FULL_GROUP_BY'",
      'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
      'SET SESSION TRANSACTION READ ONLY',
      "SET SESSION time_zone = '+05:30'",
      'SET SESSION completion_type = 1',
      'SET NAMES latin1',
      'SET SESSION autocommit = 0',
    ],
  ],
];

describe.skipIf(!process.env['MYSQL_URL']).each(FORMS)('mysqlOutbox, %s', (form, statements) => {
  const database = `outbox_contract_${FORMS.findIndex(([name]) => name === form)}`;
  const { openPool, transaction, loseLease } = useDatabase(database);
  let pool: Pool;
  beforeAll(() => {
    pool = openPool({}, statements);
  });
  runContract<PoolConnection>({
    create: ({ client }) => mysqlOutbox<PoolConnection>(pool, { client }),
    transaction,
    loseLease,
  });
});
