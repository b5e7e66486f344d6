import { drizzle } from 'drizzle-orm/pglite';
import { beforeAll } from 'vitest';
import { postgresInbox } from '../../src/postgres/inbox-postgres-inbox.js';
import { fromDrizzle } from '../../src/store/providers/drizzle.js';
import { emptyPglite } from '../pglite.js';
import { describeInboxContract } from './inbox.js';

let db: ReturnType<typeof drizzle>;
beforeAll(async () => {
  const database = await emptyPglite();
  db = drizzle(database as never);
  await postgresInbox(database).setup();
});

describeInboxContract('postgresInbox on Drizzle over PGlite', () => ({
  create: () => postgresInbox(fromDrizzle(db), { lockTimeoutMs: 1_000 }),
  concurrent: false,
}));
