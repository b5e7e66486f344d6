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

  it('refuses a transaction at another isolation level, and does nothing in it', async () => {
    const { orm, query, isTransaction } = fromDrizzle(db);
    const provider = makeProvider({
      orm,
      isTransaction,
      forWork: (tx) => tx,
      database: db,
      query,
      transaction: (body: (tx: typeof db) => Promise<void>) =>
        db.transaction((tx) => body(tx as never), { isolationLevel: 'repeatable read' }),
    });
    let runs = 0;
    const running = outcomeOf(postgresStore(provider), change('isolated'), async () => {
      runs += 1;
    });
    await expect(running).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('at REPEATABLE READ'),
    });
    expect(runs).toBe(0);
  });

  it('refuses answers that are not the text of Postgres', async () => {
    const { orm, transaction, isTransaction } = fromDrizzle(db);
    const query = async () => [{ answer: 1 }];
    const provider = makeProvider({
      orm,
      database: db,
      transaction,
      query,
      isTransaction,
      forWork: (tx) => tx,
    });
    await expect(outcomeOf(postgresStore(provider), change('odd'), nothing)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('Drizzle did not return the text'),
    });
  });

  it.each([
    ['aborted', 'the work continued'],
    ['in progress', 'whether it was recorded is unknown'],
  ])('does not take a transaction for committed that Postgres calls %s', async (status, says) => {
    const { orm, transaction, query, isTransaction } = fromDrizzle(db);
    const provider = makeProvider({
      orm,
      isTransaction,
      forWork: (tx) => tx,
      database: db,
      transaction,
      query: async (on, text) =>
        text.includes('txid_status') ? [{ status }] : query(on as never, text),
    });
    const running = outcomeOf(postgresStore(provider), change(`ends-${status}`), nothing);
    await expect(running).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining(says),
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
