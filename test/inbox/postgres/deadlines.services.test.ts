import pg, { type PoolClient } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { followFirstConnection } from './first-connection.js';
import { change, heldWork, nothing } from './payment-change.js';
import { useSchema } from './server.js';
import { type SwallowingProxy, startSwallowingProxy } from './swallowing-proxy.js';

const schema = 'mp_inbox_deadlines';
const { openPool, observer } = useSchema(schema);
// What a busy machine still keeps, where nothing hangs.
const SHORT = { lockTimeoutMs: 100, commandTimeoutMs: 500, acquireTimeoutMs: 2_000 };

describe.skipIf(!process.env['DATABASE_URL'])('a network that swallows what is sent', () => {
  let proxy: SwallowingProxy;
  let pool: pg.Pool;
  let connection: ReturnType<typeof followFirstConnection>;

  beforeEach(async () => {
    proxy = await startSwallowingProxy(process.env['DATABASE_URL'] ?? '');
    pool = new pg.Pool({
      connectionString: proxy.url,
      max: 2,
      options: `-c search_path=${schema}`,
      connectionTimeoutMillis: 2_000,
    });
    pool.on('error', () => undefined);
    connection = followFirstConnection(pool);
  });
  afterEach(async () => {
    await proxy.close();
    await pool.end();
  });

  const warmUp = async () => {
    const clients = await Promise.all([pool.connect(), pool.connect()]);
    for (const client of clients) client.release();
  };

  it('fails callbacks in time and leaves the pool as large as it was', async () => {
    const inbox = postgresInbox(pool, { ...SHORT, acquireTimeoutMs: 300 });
    await warmUp();
    proxy.swallow();
    const lost = ['a', 'b', 'c', 'd'].map((name) => inbox.process(change(name), nothing));
    for (const outcome of await Promise.allSettled(lost)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'INBOX_TIMEOUT' } });
    }
    // What took the places of the lost connections could not be made either.
    await expect(inbox.process(change('e'), nothing)).rejects.toThrow('acquireTimeoutMs');
    proxy.cut();
    proxy.heal();
    const after = ['a', 'b', 'c'].map((name) => postgresInbox(pool).process(change(name), nothing));
    expect(await Promise.all(after)).toEqual(['processed', 'processed', 'processed']);
    expect(pool).toMatchObject({ totalCount: 2, waitingCount: 0 });
  });

  it('while the work runs, does not keep its connection after it', async () => {
    const inbox = postgresInbox<PoolClient>(pool, SHORT);
    const held = heldWork<PoolClient>();
    const running = inbox.process(change('failing'), held.work);
    await held.started;
    proxy.swallow();
    held.fail('failed');
    await expect(running).rejects.toBe('failed');
    expect(connection.isInPool()).toBe(false);
  });

  it.each([
    ['a statement of the work', (tx: PoolClient) => tx.query('SELECT 1')],
    ['work that waits for something else', () => new Promise<never>(() => undefined)],
  ])('under %s: the transaction has a limit, without one of the pool', async (name, wait) => {
    const inbox = postgresInbox<PoolClient>(pool, { ...SHORT, transactionTimeoutMs: 1_000 });
    let aborted: unknown;
    const running = inbox.process(change(name), async ({ tx, signal }) => {
      proxy.swallow();
      signal.addEventListener('abort', () => {
        aborted = signal.reason;
      });
      await wait(tx);
    });
    const lost = {
      code: 'INBOX_TIMEOUT',
      message: expect.stringContaining('transactionTimeoutMs'),
    };
    await expect(running).rejects.toMatchObject(lost);
    expect(aborted).toMatchObject(lost);
    expect(connection.isInPool()).toBe(false);
    proxy.cut();
    proxy.heal();
    expect(await postgresInbox(pool).process(change(name), nothing)).toBe('processed');
  });

  it.each(['setup', 'prune'] as const)('under %s: it rejects in time', async (method) => {
    const swallowing = {
      connect: async () => {
        const client = await pool.connect();
        const query = client.query.bind(client);
        // After BEGIN has been answered.
        client.query = ((text: string, ...more: []) => {
          if (!text.startsWith('BEGIN')) proxy.swallow();
          return query(text, ...more);
        }) as never;
        return client;
      },
    };
    const inbox = postgresInbox(swallowing, { ...SHORT, transactionTimeoutMs: 1_000 });
    const lost = {
      code: 'INBOX_TIMEOUT',
      message: expect.stringContaining('transactionTimeoutMs'),
    };
    await expect(inbox[method](new Date())).rejects.toMatchObject(lost);
    expect(connection.isInPool()).toBe(false);
  });

  it('before COMMIT: whether the change was recorded is unknown, and a retry tells', async () => {
    const inbox = postgresInbox<PoolClient>(pool, SHORT);
    const running = inbox.process(change('not-sent'), async () => proxy.swallow());
    await expect(running).rejects.toMatchObject({
      code: 'INBOX_TIMEOUT',
      message: expect.stringMatching(/whether it was recorded is unknown.*retry/),
    });
    expect(connection.isInPool()).toBe(false);
    proxy.cut();
    proxy.heal();
    expect(await postgresInbox(pool).process(change('not-sent'), nothing)).toBe('processed');
  });

  it('after COMMIT: the same, and the retry is a duplicate', async () => {
    const inbox = postgresInbox<PoolClient>(pool, SHORT);
    const running = inbox.process(change('not-answered'), async () => proxy.swallowNextAnswer());
    await expect(running).rejects.toMatchObject({ code: 'INBOX_TIMEOUT' });
    proxy.heal();
    expect(await postgresInbox(pool).process(change('not-answered'), nothing)).toBe('duplicate');
  });

  it('and ends the connection after COMMIT: the error says that too', async () => {
    const inbox = postgresInbox<PoolClient>(pool);
    const running = inbox.process(change('cut'), async () => {
      proxy.swallowNextAnswer();
      proxy.answered.then(() => proxy.cut());
    });
    await expect(running).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringMatching(/whether it was recorded is unknown.*retry/),
      cause: expect.any(Error),
    });
    expect(await inbox.process(change('cut'), nothing)).toBe('duplicate');
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('a wait for another callback', () => {
  it('is not taken for a server that does not answer', async () => {
    const pools = [1, 2].map(
      () =>
        new pg.Pool({
          connectionString: process.env['DATABASE_URL'] ?? '',
          options: `-c search_path=${schema}`,
        }),
    );
    const [one, two] = pools as [pg.Pool, pg.Pool];
    const held = heldWork();
    const first = postgresInbox(one).process(change('slow'), held.work);
    await held.started;
    // Longer than commandTimeoutMs: what is waited for is the other callback.
    const impatient = postgresInbox(two, { lockTimeoutMs: 400, commandTimeoutMs: 200 });
    expect(await impatient.process(change('slow'), nothing)).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
    expect(two).toMatchObject({ totalCount: 1, idleCount: 1 });
    await Promise.all(pools.map((pool) => pool.end()));
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('a migration that locks the tables', () => {
  const pool = openPool({ max: 1, application_name: 'mp_behind_migration' });

  it('makes callbacks busy, and leaves no session behind that waits on', async () => {
    const inbox = postgresInbox(pool, SHORT);
    const migration = await observer.connect();
    try {
      await migration.query('BEGIN');
      await migration.query('LOCK TABLE payment_inbox_events IN ACCESS EXCLUSIVE MODE');
      for (const name of ['one', 'two', 'three']) {
        expect(await inbox.process(change(`behind-${name}`), nothing)).toBe('busy');
      }
      const { rows } = await observer.query(
        "SELECT count(*)::int AS sessions FROM pg_stat_activity WHERE application_name = 'mp_behind_migration'",
      );
      expect(rows).toEqual([{ sessions: 1 }]);
    } finally {
      await migration.query('ROLLBACK');
      migration.release();
    }
    expect(await inbox.process(change('behind-one'), nothing)).toBe('processed');
  });
});
