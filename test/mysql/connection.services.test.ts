import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import mysql, { type Pool, type PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, heldWork, nothing } from '../postgres/change.js';
import { inDatabase } from '../services/mysql-url.js';
import { outcomeOf } from '../store/outcome-of.js';
import { describeNetwork, SHORT, useNetwork } from '../store/sql/network-cases.js';
import { terminate, useDatabase } from './server.js';

const { openPool, observer, countRecorded, waitForBlocked, database } =
  useDatabase('mp_store_connection');
const url = process.env['MYSQL_URL'] ?? '';

interface WithConnections {
  readonly _allConnections: { toArray(): { readonly threadId: number }[] };
}

/** The numbers that the server has given to the connections of the pool. */
const threadsOf = (pool: Pool) =>
  (pool.pool as unknown as WithConnections)._allConnections
    .toArray()
    .map(({ threadId }) => threadId);
const sizeOf = (pool: Pool) => threadsOf(pool).length;

describe.skipIf(!url)('a connection that is lost while the work runs', () => {
  it('aborts the signal, records nothing and is closed', async () => {
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore<PoolConnection>(pool);
    const held = heldWork<PoolConnection>();
    const running = outcomeOf(store, change('idle'), held.work);
    // It rejects before the test has come to ask.
    running.catch(() => undefined);
    const { tx, signal } = await held.started;
    const aborted = once(signal, 'abort');
    await terminate(observer, tx);
    await aborted;
    expect(signal.reason).toMatchObject({ code: 'TRANSACTION_LOST', cause: expect.any(Error) });
    await expect(running).rejects.toBe(signal.reason);
    expect(await countRecorded('idle')).toBe(0);
    expect(threadsOf(pool)).not.toContain(tx.threadId);
    expect(await outcomeOf(store, change('idle'), nothing)).toBe('processed');
    held.finish();
  });

  it('and whose error the work swallows rejects with TRANSACTION_LOST', async () => {
    const store = mysqlStore<PoolConnection>(openPool({ connectionLimit: 1 }));
    const running = outcomeOf(store, change('swallowed'), async ({ tx }) => {
      const sleeping = tx.query('SELECT SLEEP(60)').catch(() => undefined);
      await terminate(observer, tx);
      await sleeping;
    });
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(await countRecorded('swallowed')).toBe(0);
  });
});

describe.skipIf(!url)('a pool whose connections are all taken', () => {
  it('ends the wait in time, and the connection that comes late is given back', async () => {
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore(pool, { acquireTimeoutMs: 5 });
    const taken = await pool.getConnection();
    await expect(outcomeOf(store, change('exhausted'), nothing)).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining('acquireTimeoutMs'),
    });
    taken.release();
    const next = await pool.getConnection();
    next.release();
    expect(sizeOf(pool)).toBe(1);
    expect(await countRecorded('exhausted')).toBe(0);
  });
});

describe.skipIf(!url)('a connection', () => {
  it('is given back after each outcome, with the listeners it had', async () => {
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore(pool);
    const look = async () => {
      const { connection, threadId } = await pool.getConnection();
      const core = connection as unknown as PoolConnection;
      const listeners = [core.listenerCount('error'), core.listenerCount('end')];
      core.release();
      return { threadId, listeners };
    };
    const before = await look();
    await outcomeOf(store, change('given-back', 2), nothing);
    await outcomeOf(store, change('given-back', 2), nothing);
    await outcomeOf(store, change('given-back', 1), nothing);
    await outcomeOf(store, change('given-back', 3), () => Promise.reject('failed')).catch(String);
    expect(await look()).toEqual(before);
  });
});

const warmUp = async (pool: Pool): Promise<void> => {
  const connections = await Promise.all([pool.getConnection(), pool.getConnection()]);
  for (const connection of connections) connection.release();
};

interface Core {
  query(...sent: unknown[]): unknown;
}

/** Settles when the connection on which the failure was to be kept has been given up too. */
const waitUntilEmpty = async (pool: Pool): Promise<void> => {
  while (sizeOf(pool) > 0) await pause(10);
};

describe.skipIf(!url)('a network that swallows what is sent', () => {
  let onCommit = (): void => undefined;
  const scene = useNetwork<Pool>({
    url: inDatabase(url || 'mysql://127.0.0.1', database),
    openPool(uri) {
      const pool = mysql.createPool({ uri, connectionLimit: 2, connectTimeout: 2_000 });
      pool.pool.on('connection', (connection) => {
        const core = connection as unknown as Core;
        const send = core.query.bind(core);
        core.query = (...sent) => {
          if (String(sent[0]).includes('COMMIT')) onCommit();
          return send(...sent);
        };
      });
      return pool;
    },
    // A connection that was being opened when the network swallowed it may time out as late as this.
    closePool: (pool) =>
      pool.end().catch((error) => expect(error).toMatchObject({ code: 'ETIMEDOUT' })),
    makeStore: (pool, options) => mysqlStore(pool, options),
    send: (tx, sql) => (tx as PoolConnection).query(sql),
    expectGone: waitUntilEmpty,
    sizeOf,
    warmUp,
    beforeCommit(_tx, act) {
      onCommit = () => {
        onCommit = () => undefined;
        act();
      };
    },
  });
  describeNetwork(scene);

  it.each(['setup', 'prune'] as const)('under %s: it rejects in time', async (method) => {
    const pool = scene.pool();
    await warmUp(pool);
    scene.proxy().swallow();
    const store = mysqlStore(pool, { ...SHORT, transactionTimeoutMs: 1_000 });
    await expect(store[method](new Date())).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    expect(sizeOf(pool)).toBe(1);
  });
});

describe.skipIf(!url)('a wait for another callback', () => {
  it('is not taken for a server that does not answer', async () => {
    const held = heldWork();
    const first = outcomeOf(mysqlStore(openPool()), change('slow'), held.work);
    await held.started;
    const pool = openPool({ connectionLimit: 1 });
    // Longer than commandTimeoutMs: what is waited for is the other callback.
    const impatient = mysqlStore(pool, { lockTimeoutMs: 1_500, commandTimeoutMs: 1_000 });
    expect(await outcomeOf(impatient, change('slow'), nothing)).toBe('busy');
    expect(sizeOf(pool)).toBe(1);
    await waitForBlocked(0);
    held.finish();
    expect(await first).toBe('processed');
  });

  it('ends within milliseconds, and one in this process takes no connection', async () => {
    const pool = openPool();
    const held = heldWork();
    const store = mysqlStore(pool, { lockTimeoutMs: 5 });
    const first = outcomeOf(store, change('locked'), held.work);
    await held.started;
    expect(await outcomeOf(store, change('locked'), nothing)).toBe('busy');
    expect(sizeOf(pool)).toBe(1);
    expect(await outcomeOf(store, change('locked', 1), nothing)).toBe('busy');
    expect(
      await outcomeOf(mysqlStore(openPool(), { lockTimeoutMs: 5 }), change('locked'), nothing),
    ).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
  });
});

describe.skipIf(!url)('a statement that someone ends while it waits for the lock', () => {
  const ended = {
    code: 'STORE_FAILED',
    message: expect.stringContaining('refused a statement of the store'),
  };

  it('fails the callback', async () => {
    const held = heldWork();
    const first = outcomeOf(mysqlStore(openPool()), change('ended'), held.work);
    await held.started;
    const pool = openPool({ connectionLimit: 1 });
    const [rows] = await pool.query('SELECT CONNECTION_ID() AS id');
    const waiting = outcomeOf(
      mysqlStore(pool, { lockTimeoutMs: 60_000 }),
      change('ended', 1),
      nothing,
    );
    const failed = expect(waiting).rejects.toMatchObject(ended);
    await waitForBlocked(1);
    await observer.query(`KILL QUERY ${(rows as [{ id: number }])[0].id}`);
    await failed;
    held.finish();
    expect(await first).toBe('processed');
    expect(await outcomeOf(mysqlStore(pool), change('ended', 1), nothing)).toBe('processed');
  });
});

describe.skipIf(!url)('a migration that locks the table', () => {
  it('makes callbacks busy, and leaves no session behind that waits on', async () => {
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore(pool, { lockTimeoutMs: 1_000 });
    const migration = await observer.getConnection();
    try {
      await migration.query('LOCK TABLES payment_store_changes WRITE');
      for (const name of ['one', 'two']) {
        expect(await outcomeOf(store, change(`behind-${name}`), nothing)).toBe('busy');
      }
      expect(sizeOf(pool)).toBe(1);
    } finally {
      await migration.query('UNLOCK TABLES');
      migration.release();
    }
    expect(await outcomeOf(store, change('behind-one'), nothing)).toBe('processed');
  });
});
