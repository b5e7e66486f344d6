import { beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, heldWork, nothing } from './change.js';
import { useRoles } from './roles.js';
import { useSchema } from './server.js';

const { openPool, observer } = useSchema('mp_setup');

const inADay = () => new Date(Date.now() + 86_400_000);

describe.skipIf(!process.env['DATABASE_URL'])('setup', () => {
  it('makes the tables when eight processes call it at once', async () => {
    const pools = Array.from({ length: 8 }, () => openPool({ max: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    for (const round of [1, 2, 3]) {
      const prefix = `round_${round}_`;
      await Promise.all(pools.map((pool) => postgresStore(pool, { prefix }).setup()));
      const { rows } = await observer.query(
        `SELECT tablename, indexname FROM pg_indexes WHERE tablename = ANY ($1) ORDER BY 1, 2`,
        [[`${prefix}payments`, `${prefix}changes`]],
      );
      expect(rows.map(({ indexname }) => indexname)).toEqual([
        `${prefix}changes_pkey`,
        `${prefix}changes_processed`,
        `${prefix}payments_pkey`,
        `${prefix}payments_state`,
      ]);
    }
  });

  it('makes them in the schema that the prefix names', async () => {
    const pool = openPool({ options: '-c search_path=public' });
    const store = postgresStore(pool, { prefix: 'mp_setup.Shop_' });
    await store.setup();
    expect(await outcomeOf(store, change('schema'), nothing)).toBe('processed');
    const { rows } = await observer.query('SELECT * FROM mp_setup."Shop_changes"');
    expect(rows).toMatchObject([{ merchant_payment_reference: 'schema', change_key: 'schema-0' }]);
  });

  it('takes tables that the search_path finds in a later schema', async () => {
    await observer.query(`DROP SCHEMA IF EXISTS mp_setup_first CASCADE;
      CREATE SCHEMA mp_setup_first`);
    const options = '-c search_path=mp_setup_first,mp_setup';
    await postgresStore(openPool({ options })).setup();
    // Fails when something is in it.
    await observer.query('DROP SCHEMA mp_setup_first');
  });

  it('does not wait for a callback that is being processed', async () => {
    const held = heldWork();
    const running = outcomeOf(postgresStore(openPool()), change('at-start'), held.work);
    await held.started;
    await postgresStore(openPool()).setup();
    held.finish();
    expect(await running).toBe('processed');
  });

  it('gives up where a part is missing of a table in use, which all else would wait for', async () => {
    await observer.query('DROP INDEX payment_store_changes_processed');
    const user = await openPool().connect();
    await user.query('BEGIN; LOCK TABLE payment_store_changes IN ROW EXCLUSIVE MODE');
    const store = postgresStore(openPool());
    await expect(store.setup()).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining('could not lock a table that callbacks are using'),
    });
    await user.query('COMMIT');
    user.release();
    await store.setup();
  }, 10_000);
});

describe.skipIf(!process.env['DATABASE_URL'])('a role that may not create tables', () => {
  const role = 'mp_setup_app';
  const tables = ['payments', 'changes', 'failed_changes', 'second_payments'];
  useRoles(
    observer,
    [role],
    `GRANT USAGE ON SCHEMA mp_setup TO ${role};
     GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables.map((name) => `payment_store_${name}`)} TO ${role}`,
  );
  const pool = openPool({ options: `-c role=${role}` });

  it('may call setup where a migration has made them, and process', async () => {
    const store = postgresStore(pool);
    await store.setup();
    expect(await outcomeOf(store, change('role'), nothing)).toBe('processed');
  });

  it('is told what to run where a table is missing', async () => {
    const store = postgresStore(pool, { prefix: 'not_migrated_' });
    await expect(store.setup()).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringMatching(/CREATE TABLE IF NOT EXISTS "not_migrated_payments" \( \w/),
      cause: { code: '42501' },
    });
  });

  it('is told what to run where a column is missing', async () => {
    await observer.query('ALTER TABLE payment_store_payments DROP COLUMN found_status');
    const refused = await postgresStore(pool)
      .setup()
      .catch((error: Error) => error.message);
    const statement = /Run this as a role that may: (ALTER TABLE .* ADD COLUMN found_status .*);$/;
    expect(refused).toMatch(statement);
    await observer.query(String(statement.exec(String(refused))?.[1]));
    await postgresStore(pool).setup();
  });
});

describe.skipIf(!process.env['DATABASE_URL']).each(['read committed', 'serializable'])(
  'prune on a database whose default is %s',
  (level) => {
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
    const store = postgresStore(openPool({ options }));
    beforeAll(() =>
      observer.query(
        'TRUNCATE payment_store_payments, payment_store_changes, payment_store_failed_changes',
      ),
    );

    it('leaves a payment whose change is being processed, and waits for nothing', async () => {
      await outcomeOf(store, change('in-progress', 1), nothing);
      const held = heldWork();
      const running = outcomeOf(store, change('in-progress', 2), held.work);
      await held.started;
      expect(await store.prune(inADay())).toBe(1);
      held.finish();
      expect(await running).toBe('processed');
      expect(await isCurrent(store, change('in-progress', 1))).toBe(false);
      // The changes, and their order.
      expect(await store.prune(inADay())).toBe(3);
    });

    it('may be called by several processes at once: each event is counted once', async () => {
      await observer.query(
        `INSERT INTO payment_store_changes
         SELECT 'many', 'many', n::text, 0, 0, 0 FROM generate_series(1, 3000) n`,
      );
      const counts = await Promise.all([1, 2, 3].map(() => store.prune(inADay())));
      const left = await store.prune(inADay());
      expect(counts.reduce((sum, count) => sum + count, left)).toBe(3000);
    });
  },
);
