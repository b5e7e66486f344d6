import type { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { emptyPglite } from '../../pglite.js';
import { itKeepsFailures } from './cases.js';

describe('a receiver with a store in PGlite', () => {
  let database: PGlite;
  beforeAll(async () => {
    database = await emptyPglite();
    await postgresStore(database).setup();
  });

  itKeepsFailures(() => postgresStore(database));
});
