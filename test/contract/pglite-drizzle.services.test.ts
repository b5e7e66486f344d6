import { drizzle } from 'drizzle-orm/pglite';
import { beforeAll } from 'vitest';
import { fromDrizzle, postgresStore } from '../../src/postgres/index.js';
import { emptyPglite } from '../pglite.js';
import { letPassOf } from './let-pass.js';
import { describeStore } from './store.js';

let database: Awaited<ReturnType<typeof emptyPglite>>;
let db: ReturnType<typeof drizzle>;
beforeAll(async () => {
  database = await emptyPglite();
  db = drizzle(database as never);
  await postgresStore(database).setup();
});

describeStore('postgresStore on Drizzle over PGlite', () => ({
  create: (options) => postgresStore(fromDrizzle(db), { ...options, lockTimeoutMs: 1_000 }),
  concurrent: false,
  database: () => db,
  transaction: (body) => db.transaction((tx) => body(tx)),
  async letPass(reference, ms) {
    await database.query(letPassOf(reference, ms));
  },
}));
