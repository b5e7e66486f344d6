import pg, { type PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { describeNetwork, SHORT, useNetwork } from '../store/sql/network-cases.js';
import { change, heldWork, nothing } from './change.js';
import { followFirstConnection } from './first-connection.js';
import { useSchema } from './server.js';

const schema = 'mp_deadlines';
const { openPool, observer } = useSchema(schema);

describe.skipIf(!process.env['DATABASE_URL'])('a network that swallows what is sent', () => {
  let connection: ReturnType<typeof followFirstConnection>;
  const expectGone = async () => expect(connection.isInPool()).toBe(false);
  const scene = useNetwork<pg.Pool>({
    url: process.env['DATABASE_URL'] ?? '',
    openPool(connectionString) {
      const pool = new pg.Pool({
        connectionString,
        max: 2,
        options: `-c search_path=${schema}`,
        connectionTimeoutMillis: 2_000,
      });
      pool.on('error', () => undefined);
      connection = followFirstConnection(pool);
      return pool;
    },
    closePool: (pool) => pool.end(),
    makeStore: (pool, options) => postgresStore(pool, options),
    send: (tx, sql) => (tx as PoolClient).query(sql),
    expectGone,
    sizeOf: ({ totalCount }) => totalCount,
    async warmUp(pool) {
      const clients = await Promise.all([pool.connect(), pool.connect()]);
      for (const client of clients) client.release();
    },
  });
  describeNetwork(scene);

  it.each(['setup', 'prune'] as const)('under %s: it rejects in time', async (method) => {
    const swallowing = {
      connect: async () => {
        const client = await scene.pool().connect();
        const query = client.query.bind(client);
        // After BEGIN has been answered.
        client.query = ((text: string, ...more: []) => {
          if (!text.startsWith('BEGIN')) scene.proxy().swallow();
          return query(text, ...more);
        }) as never;
        return client;
      },
    };
    const store = postgresStore(swallowing, SHORT);
    const lost = {
      code: 'STORE_TIMEOUT',
      message: expect.stringMatching(/commandTimeoutMs.*unknown whether the step was done/),
    };
    await expect(store[method](new Date())).rejects.toMatchObject(lost);
    await expectGone();
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
    const first = outcomeOf(postgresStore(one), change('slow'), held.work);
    await held.started;
    // Longer than commandTimeoutMs: what is waited for is the other callback.
    const impatient = postgresStore(two, { lockTimeoutMs: 1_500, commandTimeoutMs: 1_000 });
    expect(await outcomeOf(impatient, change('slow'), nothing)).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
    expect(two).toMatchObject({ totalCount: 1, idleCount: 1 });
    await Promise.all(pools.map((pool) => pool.end()));
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('a migration that locks the tables', () => {
  const pool = openPool({ max: 1, application_name: 'mp_behind_migration' });

  it('makes callbacks busy, and leaves no session behind that waits on', async () => {
    const store = postgresStore(pool, SHORT);
    const migration = await observer.connect();
    try {
      await migration.query('BEGIN');
      await migration.query('LOCK TABLE payment_store_changes IN ACCESS EXCLUSIVE MODE');
      for (const name of ['one', 'two', 'three']) {
        expect(await outcomeOf(store, change(`behind-${name}`), nothing)).toBe('busy');
      }
      const { rows } = await observer.query(
        "SELECT count(*)::int AS sessions FROM pg_stat_activity WHERE application_name = 'mp_behind_migration'",
      );
      expect(rows).toEqual([{ sessions: 1 }]);
    } finally {
      await migration.query('ROLLBACK');
      migration.release();
    }
    expect(await outcomeOf(store, change('behind-one'), nothing)).toBe('processed');
  });
});
