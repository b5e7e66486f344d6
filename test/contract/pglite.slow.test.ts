import type { PGlite } from '@electric-sql/pglite';
import { beforeAll } from 'vitest';
import { postgresStore, type Queryable } from '../../src/postgres/index.js';
import { emptyPglite } from '../pglite.js';
import { letPassOf } from './let-pass.js';
import { describeStore } from './store.js';

let database: PGlite;
beforeAll(async () => {
  database = await emptyPglite();
  await postgresStore(database).setup();
});

describeStore<Queryable>('postgresStore on PGlite', () => ({
  create: (options) => postgresStore<Queryable>(database, options),
  concurrent: false,
  database: () => database,
  transaction: (body) => database.transaction((tx) => body(tx as Queryable)),
  async letPass(reference, ms) {
    await database.query(letPassOf(reference, ms));
  },
}));
