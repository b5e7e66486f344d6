import type { PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { describeMany, describeProcesses, type SqlServer } from '../store/sql/concurrency-cases.js';
import { change, heldWork, nothing } from './change.js';
import { terminate, useSchema } from './server.js';

const { openPool, observer, waitForBlocked } = useSchema('mp_concurrency');

const long = { lockTimeoutMs: 60_000, acquireTimeoutMs: 60_000 };
const serializable = '-c default_transaction_isolation=serializable';
const serverWith = (options: string): SqlServer => ({
  openStore: () => postgresStore(openPool({ max: 3, options }), long),
  query: async (sql) => (await observer.query(sql)).rows,
  serial: 'serial',
  send: (tx, sql) => (tx as PoolClient).query(sql),
  waitForBlocked,
  terminate: (tx) => terminate(observer, tx as PoolClient),
});

describe.skipIf(!process.env['DATABASE_URL'])('several processes on a server', () => {
  describe.each([
    ['whose default is read committed', ''],
    ['whose default is serializable', serializable],
  ])('%s', (form, options) => describeProcesses(form, serverWith(options)));

  describe('with many deliveries at once', () => describeMany(serverWith('')));
});

describe.skipIf(!process.env['DATABASE_URL'])('a payment that is locked for too long', () => {
  it('is busy in another process', async () => {
    const held = heldWork();
    const first = outcomeOf(postgresStore(openPool()), change('locked', 1), held.work);
    await held.started;
    // Without the store's own limit, this one would wait without end.
    const pool = openPool({ options: '-c lock_timeout=0' });
    const other = postgresStore(pool, { lockTimeoutMs: 5 });
    expect(await outcomeOf(other, change('locked', 1), nothing)).toBe('busy');
    expect(await outcomeOf(other, change('locked', 2), nothing)).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
    expect(await outcomeOf(other, change('locked', 1), nothing)).toBe('duplicate');
  });

  it('is busy in this process, without a connection', async () => {
    const pool = openPool();
    const store = postgresStore(pool, { lockTimeoutMs: 5 });
    const held = heldWork();
    const first = outcomeOf(store, change('locked-here', 1), held.work);
    await held.started;
    expect(await outcomeOf(store, change('locked-here', 1), nothing)).toBe('busy');
    expect(pool.totalCount).toBe(1);
    held.finish();
    expect(await first).toBe('processed');
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('duplicates of a change', () => {
  it('wait where they arrived, with no connection', async () => {
    const pool = openPool({ max: 3 });
    const store = postgresStore<PoolClient>(pool, long);
    const held = heldWork<PoolClient>();
    const first = outcomeOf(store, change('duplicates'), held.work);
    await held.started;
    const second = outcomeOf(store, change('duplicates'), nothing);
    expect(await outcomeOf(store, change('another'), nothing)).toBe('processed');
    expect(pool).toMatchObject({ totalCount: 2, idleCount: 1, waitingCount: 0 });
    held.finish();
    expect(await Promise.all([first, second])).toEqual(['processed', 'duplicate']);
  });
});
