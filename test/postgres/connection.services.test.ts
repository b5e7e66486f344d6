import { once } from 'node:events';
import pg, { type PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, deferred, heldWork, nothing } from './change.js';
import { followFirstConnection } from './first-connection.js';
import { terminate, useSchema } from './server.js';

const { openPool, observer, countRecorded: recorded } = useSchema('mp_connection');

describe.skipIf(!process.env['DATABASE_URL'])(
  'a connection that is lost while the work runs',
  () => {
    it('aborts the signal, records nothing and is closed', async () => {
      const pool = openPool({ max: 1 });
      const connection = followFirstConnection(pool);
      const store = postgresStore<PoolClient>(pool);
      const held = heldWork<PoolClient>();
      const running = outcomeOf(store, change('idle'), held.work);
      // It rejects before the test has come to ask.
      running.catch(() => undefined);
      const { tx, signal } = await held.started;
      const aborted = once(signal, 'abort');
      await terminate(observer, tx);
      await aborted;
      expect(signal.reason).toMatchObject({ code: 'TRANSACTION_LOST', cause: { code: '57P01' } });
      await expect(running).rejects.toBe(signal.reason);
      expect(await recorded('idle')).toBe(0);
      expect(connection.isInPool()).toBe(false);
      expect(await outcomeOf(store, change('idle'), nothing)).toBe('processed');
      held.finish();
    });

    it.each([
      [{}, '125s'],
      [{ transactionTimeoutMs: 24_001 }, '29001ms'],
    ])('is ended by the server too, if this machine vanishes (%o)', async (limits, expected) => {
      const store = postgresStore<PoolClient>(openPool({ max: 1 }), limits);
      await outcomeOf(store, change(`silent-${expected}`), async ({ tx }) => {
        const { rows } = await tx.query('SHOW idle_in_transaction_session_timeout');
        expect(rows).toEqual([{ idle_in_transaction_session_timeout: expected }]);
      });
    });

    it('because the work waits for the pool whose connections such work has all taken', async () => {
      const pool = openPool({ max: 2 });
      const store = postgresStore(pool, { transactionTimeoutMs: 1_000 });
      const reads: Promise<unknown>[] = [];
      const bothTaken = deferred<void>();
      const work = async (): Promise<void> => {
        if (pool.totalCount === 2) bothTaken.resolve();
        await bothTaken.promise;
        const read = pool.query('SELECT 1 AS one');
        reads.push(read);
        await read;
      };
      const deadlocked = ['full-1', 'full-2'].map((name) => outcomeOf(store, change(name), work));
      const outcomes = await Promise.allSettled(deadlocked);
      // The first one to end may free its connection in time for the other one.
      const lost = outcomes.filter(({ status }) => status === 'rejected');
      expect(lost.length).toBeGreaterThan(0);
      for (const outcome of lost) {
        expect(outcome).toMatchObject({ reason: { code: 'STORE_TIMEOUT' } });
      }
      expect(await Promise.all(reads)).toHaveLength(2);
      for (const [index, { status }] of outcomes.entries()) {
        const again = await outcomeOf(postgresStore(pool), change(`full-${index + 1}`), nothing);
        expect(again).toBe(status === 'rejected' ? 'processed' : 'duplicate');
      }
    });

    it('in a statement whose error the work swallows rejects with TRANSACTION_LOST', async () => {
      const store = postgresStore<PoolClient>(openPool({ max: 1 }));
      const running = outcomeOf(store, change('swallowed'), async ({ tx }) => {
        await tx.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
      });
      await expect(running).rejects.toMatchObject({
        code: 'TRANSACTION_LOST',
        message: expect.stringContaining('The connection to the database was lost'),
      });
      expect(await recorded('swallowed')).toBe(0);
    });
  },
);

describe.skipIf(!process.env['DATABASE_URL'])('a connection', () => {
  it('is given back after each outcome, with the listeners it had', async () => {
    const pool = openPool({ max: 1 });
    const store = postgresStore(pool);
    await outcomeOf(store, change('given-back', 2), nothing);
    const idle = await pool.connect();
    const listeners = idle.listenerCount('error');
    idle.release();
    await outcomeOf(store, change('given-back', 2), nothing);
    await outcomeOf(store, change('given-back', 1), nothing);
    await outcomeOf(store, change('given-back', 3), () => Promise.reject('failed')).catch(String);
    const again = await pool.connect();
    expect(again).toBe(idle);
    expect(again.listenerCount('error')).toBe(listeners);
    again.release();
  });

  it('has what Postgres says as its failure when there is no server', async () => {
    const pool = new pg.Pool({ host: '127.0.0.1', port: 1 });
    await expect(
      outcomeOf(postgresStore(pool), change('no-server'), nothing),
    ).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('nothing was done'),
      cause: { code: 'ECONNREFUSED' },
    });
  });
});

describe.skipIf(!process.env['DATABASE_URL'])(
  'a connection that other code released with its transaction open',
  () => {
    it('is closed, and nothing of it is committed', async () => {
      const pool = openPool({ max: 1 });
      const store = postgresStore(pool);
      const client = await pool.connect();
      await client.query("BEGIN; INSERT INTO orders VALUES ('forgotten', 'new')");
      client.release();
      await expect(outcomeOf(store, change('after it'), nothing)).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('an open transaction'),
      });
      expect(await outcomeOf(store, change('after it'), nothing)).toBe('processed');
      const { rows } = await observer.query(`SELECT FROM orders WHERE reference = 'forgotten'`);
      expect(rows).toEqual([]);
    });
  },
);
