import type { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { ContractService } from '../contract/store/service.js';
import { emptyPglite, openPglite } from '../pglite.js';
import { change, deferred, heldWork, nothing, order } from './change.js';
import { describeStore } from './store-cases.js';

let database: PGlite;

beforeAll(async () => {
  database = await emptyPglite();
  await database.exec("SET lock_timeout = '1234ms'");
  await database.exec(
    'CREATE TABLE orders (reference text, status text, UNIQUE (reference, status) DEFERRABLE INITIALLY DEFERRED)',
  );
  await postgresStore(database).setup();
});

describe('postgresStore on PGlite', () => {
  describeStore(() => ({ pool: database, query: (text, values) => database.query(text, values) }));

  it('marks the statement of a claim by its owner alone, since the driver tells no session', async () => {
    const sent = vi.spyOn(database, 'query');
    const store = postgresStore(database, { client: new ContractService().client });
    await store.create(order('marked'));
    const marks = sent.mock.calls.flatMap(([text]) => /^\/\*.*?\*\//.exec(text) ?? []);
    expect(marks).toEqual([
      expect.stringMatching(/^\/\* [\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12} \*\/$/),
    ]);
  });

  it('says when the work ended the transaction by its rollback()', async () => {
    const failing = postgresStore(database).process(change('rollback()'), ({ tx }) =>
      tx.rollback(),
    );
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('Let the store end'),
    });
  });

  it('hands on a signal that is not aborted', async () => {
    await postgresStore(database).process(change('signal'), async ({ signal }) => {
      expect(signal.aborted).toBe(false);
    });
  });

  it('is busy for a change whose payment is being processed for too long', async () => {
    const store = postgresStore(database, { lockTimeoutMs: 5 });
    const held = heldWork();
    const first = store.process(change('busy', 1), held.work);
    await held.started;
    expect(await store.process(change('busy', 1), nothing)).toBe('busy');
    expect(await store.process(change('busy', 2), nothing)).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
    expect(await store.process(change('busy', 1), nothing)).toBe('duplicate');
  });

  it('rejects when the database is not free in time, and does not run the work later', async () => {
    const store = postgresStore(database, { acquireTimeoutMs: 5 });
    const taken = deferred<void>();
    const other = database.transaction(() => taken.promise);
    let ran = false;
    const waiting = store.process(change('waiting'), async () => {
      ran = true;
    });
    await expect(waiting).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    taken.resolve();
    await other;
    // Whatever waited has had its turn when this one has.
    await database.query('SELECT 1');
    expect(ran).toBe(false);
    expect(await store.process(change('waiting'), nothing)).toBe('processed');
  });

  it('rejects with the database’s own error as the cause when it is closed', async () => {
    const closed = await openPglite();
    await closed.close();
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
    const before = timers().length;
    await expect(postgresStore(closed).process(change('closed'), nothing)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { message: 'PGlite is closed' },
    });
    expect(timers()).toHaveLength(before);
  });
});
