import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { runContract } from '../contract/run-contract.js';

describe('a Postgres inbox on PGlite', () => {
  let database: PGlite;

  beforeAll(async () => {
    database = await PGlite.create();
    await postgresInbox(database).setup();
  });
  afterAll(() => database.close());

  runContract({ create: () => postgresInbox(database), concurrent: false });
});
