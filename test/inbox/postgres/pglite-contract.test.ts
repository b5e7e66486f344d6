import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { runContract } from '../contract/run-contract.js';
import { openPglite } from './open-pglite.js';

describe('a Postgres inbox on PGlite', () => {
  let database: PGlite;

  beforeAll(async () => {
    database = await openPglite();
    await postgresInbox(database).setup();
  });
  afterAll(() => database.close());

  runContract({
    create: () => postgresInbox(database, { keepBodies: true }),
    concurrent: false,
    keepsFailures: true,
    keepsBodies: true,
  });
});
