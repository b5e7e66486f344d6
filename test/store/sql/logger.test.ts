import mysql from 'mysql2/promise';
import pg from 'pg';
import { expect, it } from 'vitest';
import { mysqlStore } from '../../../src/mysql/index.js';
import { postgresStore } from '../../../src/postgres/index.js';
import type { Logger } from '../../../src/protocol/logger.js';
import { recordLines } from '../../protocol/recorded-lines.js';
import { order } from '../orders.js';
import { unusedClient } from '../unused-client.js';

// Their pools connect only when they are used, and then to no server.
it.each([
  [
    'Postgres',
    (logger: Logger) =>
      postgresStore(new pg.Pool({ connectionString: 'postgresql://u:secret@127.0.0.1:1/db' }), {
        client: unusedClient,
        logger,
      }),
  ],
  [
    'MySQL',
    (logger: Logger) =>
      mysqlStore(mysql.createPool('mysql://u:secret@127.0.0.1:1/db'), {
        client: unusedClient,
        logger,
      }),
  ],
])('the logger of a store in %s gets what fails', async (_, open) => {
  const { lines, logger } = recordLines();
  const store = open(logger);
  await expect(store.create(order('order-1'))).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(lines).toMatchObject([{ level: 'error', fields: { code: 'STORE_FAILED' } }]);
  expect(JSON.stringify(lines)).not.toContain('secret');
});
