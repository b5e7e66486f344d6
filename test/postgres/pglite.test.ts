import type { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { emptyPglite } from '../pglite.js';
import { change, deferred, heldWork, nothing } from './change.js';
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

  it('has savepoints for the transactions of the work', async () => {
    await database.exec('CREATE TABLE nested (reference text)');
    const store = postgresStore(database);
    const insert = (reference: string) => `INSERT INTO nested VALUES ('${reference}')`;
    const work = store.process(change('pglite'), async ({ tx }) => {
      await tx.query('BEGIN');
      await tx.query(insert('kept'));
      await tx.query('COMMIT');
      const { exec } = tx as unknown as { exec(sql: string): Promise<unknown[]> };
      expect(await exec('BEGIN')).toHaveLength(1);
      await exec(insert('undone'));
      await expect(exec('SELECT 1/0')).rejects.toThrow('division by zero');
      await exec('ROLLBACK');
    });
    expect(await work).toBe('processed');
    const { rows } = await database.query('SELECT reference FROM nested');
    expect(rows).toEqual([{ reference: 'kept' }]);
  });
});
