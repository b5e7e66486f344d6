import { describe, it } from 'vitest';
import { plainKinds, redisUrl } from '../redis/clients.js';
import { drivers } from '../sqlite/open-database.js';
import { chooseSeed } from './property-runs.js';
import { fuzzStore } from './store/histories.js';
import {
  type ConnectedStore,
  openMysqlStore,
  openPostgresStore,
  openRedisStore,
  openSqliteStore,
} from './store/server-stores.js';

// The full size is that of main.ts.
const seed = chooseSeed();
console.log(`Fuzzing the stores with seed ${seed}; FUZZ_SEED=${seed} repeats it.`);
const databaseUrl = process.env['DATABASE_URL'] ?? '';
const mysqlUrl = process.env['MYSQL_URL'] ?? '';

async function fuzz(store: ConnectedStore, cases: number): Promise<void> {
  try {
    await fuzzStore(store, { cases, seed });
  } finally {
    await store.end();
  }
}

describe('any history of deliveries has the outcome of the model', () => {
  it.skipIf(!redisUrl).each(plainKinds)('in Redis by $name', async (kind) =>
    fuzz(await openRedisStore(kind, redisUrl), 100),
  );

  it.each(drivers)('in SQLite by $name', (driver) => fuzz(openSqliteStore(driver), 100));

  it.skipIf(!databaseUrl)('in Postgres by pg', async () =>
    fuzz(await openPostgresStore(databaseUrl), 30),
  );

  it.skipIf(!mysqlUrl)('in MySQL or MariaDB by mysql2', async () =>
    fuzz(await openMysqlStore(mysqlUrl), 30),
  );
});
