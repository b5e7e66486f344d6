import { drizzle } from 'drizzle-orm/pglite';
import { beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { fromDrizzle } from '../../../src/store/providers/drizzle.js';
import { makeProvider } from '../../../src/store/providers/provider.js';
import { emptyPglite } from '../../pglite.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { change, heldWork, nothing } from '../change.js';

describe('a store on Drizzle over PGlite', () => {
  let database: Awaited<ReturnType<typeof emptyPglite>>;
  let db: ReturnType<typeof drizzle>;
  beforeAll(async () => {
    database = await emptyPglite();
    db = drizzle(database as never);
    await postgresStore(fromDrizzle(db)).setup();
  });

  it('refuses answers that are not the text of Postgres', async () => {
    const { transaction } = fromDrizzle(db);
    const query = async () => [{ answer: 1 }];
    const wanted = {
      ...{ orm: 'Drizzle', by: 'fromDrizzle', option: 'db', expected: 'a Drizzle', methods: [] },
      isTransaction: () => false,
    };
    const provider = makeProvider(db, wanted, { transaction, query, forWork: (tx) => tx });
    await expect(outcomeOf(postgresStore(provider), change('odd'), nothing)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('did not return the text'),
    });
  });

  it('fails in time when the work hangs', async () => {
    const held = heldWork<unknown>();
    const store = postgresStore(fromDrizzle(db), { transactionTimeoutMs: 50 });
    const running = expect(outcomeOf(store, change('hangs'), held.work)).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
    });
    const { signal } = await held.started;
    await running;
    expect(signal.reason).toMatchObject({ code: 'STORE_TIMEOUT' });
    // PGlite is one connection, and its session is not to be ended.
    held.finish();
    expect(await outcomeOf(postgresStore(fromDrizzle(db)), change('hangs'), nothing)).toBe(
      'processed',
    );
  });
});
