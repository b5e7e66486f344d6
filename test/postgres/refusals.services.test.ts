import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import type { ServerStoreOptions } from '../../src/store/sql/server-options.js';
import { ContractService } from '../contract/store/service.js';
import { hasPostgres, startPostgres } from '../services/start-postgres.js';
import type { ThrowawayServer } from '../services/throwaway-server.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing, order } from './change.js';
import { type Operation, type OperationScene, operations } from './operations.js';
import { useRoles } from './roles.js';
import { useSchema } from './server.js';

const schema = 'mp_refusals';
const { openPool, observer, transaction, countRecorded } = useSchema(schema);
const NOTHING_DONE = /nothing was (?:written|done|changed)/;

type Options = ServerStoreOptions & { readonly client: PaymentClient };
const open = (pool: pg.Pool, options: Options) => postgresStore<pg.PoolClient>(pool, options);
let orders = 0;

/** Asserts that an operation fails with this error, sends and stores nothing, and does all of it later. */
async function expectRefusal(
  { run }: Operation,
  refused: (client: PaymentClient) => ReturnType<typeof open>,
  expected: object,
  { before = nothing, after = nothing }: { before?: Act; after?: Act } = {},
) {
  const service = new ContractService();
  orders += 1;
  const names = { recorded: `recorded-${orders}`, added: `added-${orders}` };
  const healthy = open(observer, { client: service.client });
  await transaction((tx) => healthy.record(order(names.recorded), { tx }));
  const ran: unknown[] = [];
  await before();
  const outcome = await run(refused(service.client), {
    ...names,
    onWork: (event) => ran.push(event),
  }).then(
    () => 'done',
    (error) => error,
  );
  await after();
  expect(outcome).toMatchObject(expected);
  expect(service.requestsFor(names.added)).toEqual([]);
  expect(service.requestsFor(names.recorded)).toEqual([]);
  expect(ran).toEqual([]);
  expect(await countRecorded(names.added)).toBe(0);
  expect(await healthy.get(names.added)).toBeUndefined();
  const unsent = { state: 'recorded', attempts: 0 };
  expect(await healthy.get(names.recorded)).toMatchObject(unsent);
  expect(await outcomeOf(healthy, change(names.added), nothing)).toBe('processed');
  expect(await healthy.send(names.recorded)).toMatchObject({ state: 'created' });
}
type Act = () => Promise<unknown>;

/** Asserts that the database has done it. A payment that was not sent can't be resolved. */
const expectDone = (outcome: Promise<unknown>) =>
  outcome.catch((error) => expect(error).toMatchObject({ code: 'STATE_CHANGED' }));

const byName = (wanted: readonly Operation[]) =>
  wanted.map((operation) => [operation.name, operation] as const);
const all = byName(operations);
const writing = byName(operations.filter(({ writes }) => writes));

describe.skipIf(!process.env['DATABASE_URL'])('a database', () => {
  it.each(all)('without tables refuses %s, and says to call setup()', async (_, operation) => {
    await expectRefusal(
      operation,
      (client) => open(openPool(), { client: client, prefix: 'nowhere_' }),
      {
        code: 'MISSING_TABLES',
        message: expect.stringMatching(/nothing was written.*setup\(\)/),
        cause: { code: '42P01' },
      },
    );
  });

  it.each(all)('that is not there refuses %s, and says to create it', async (_, operation) => {
    const url = new URL(process.env['DATABASE_URL'] ?? '');
    url.pathname = '/mp_no_such_database';
    const pool = openPool({ connectionString: url.href });
    await expectRefusal(operation, (client) => open(pool, { client: client }), {
      code: 'MISSING_TABLES',
      message: expect.stringMatching(/nothing was (?:written|done).*create the database/),
      cause: { code: '3D000' },
    });
  });

  describe('without rights', () => {
    const role = 'mp_refusals_app';
    useRoles(observer, [role], `GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
    const pool = openPool({ options: `-c role=${role}` });

    it.each(all)('refuses %s, and says which', async (_, operation) => {
      await expectRefusal(operation, (client) => open(pool, { client: client }), {
        code: 'STORE_FAILED',
        message: expect.stringMatching(/nothing was written.*GRANT SELECT, INSERT, UPDATE, DELETE/),
        cause: { code: '42501' },
      });
    });
  });

  it.each(all)('whose default is read only does %s all the same', async (name, { run }) => {
    const service = new ContractService();
    const pool = openPool({ max: 1, options: '-c default_transaction_read_only=on' });
    const store = open(pool, { client: service.client });
    const recorded = `read-only-${name}`;
    await transaction((tx) => store.record(order(recorded), { tx }));
    await expectDone(run(store, { recorded, added: `${recorded}-added`, onWork: () => {} }));
    expect(pool.totalCount).toBe(1);
  });

  describe.each([
    ['is a standby', '25006', /nothing was written.*read-only/],
    ['is full', '53100', /nothing was written/],
  ])('that %s', (_name, sqlState, message) => {
    const tables = ['payments', 'changes', 'failed_changes', 'second_payments'];
    const refuse = () =>
      observer.query(`CREATE OR REPLACE FUNCTION refuse_${sqlState}() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${sqlState}'; END $$;
        ${tables
          .map(
            (
              table,
            ) => `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON payment_store_${table}
              FOR EACH STATEMENT EXECUTE FUNCTION refuse_${sqlState}();`,
          )
          .join('\n')}`);
    const accept = () =>
      observer.query(
        tables.map((table) => `DROP TRIGGER refuse ON payment_store_${table};`).join(''),
      );
    // These write only what they find.
    const found = writing.filter(([name]) => !['markCreated', 'discard', 'prune'].includes(name));

    it.each(found)('refuses %s, which can be repeated', async (_, operation) => {
      const pool = openPool();
      await expectRefusal(
        operation,
        (client) => open(pool, { client: client }),
        {
          code: 'STORE_FAILED',
          message: expect.stringMatching(message),
          cause: { code: sqlState },
        },
        { before: refuse, after: accept },
      );
    });
  });

  it.each(all)(
    'whose statement_timeout cuts it short refuses %s, never as busy',
    async (_name, operation) => {
      const pool = openPool({ options: '-c statement_timeout=50' });
      const locking = await observer.connect();
      const lock = async () => {
        await locking.query('BEGIN; LOCK TABLE payment_store_payments IN ACCESS EXCLUSIVE MODE');
      };
      await expectRefusal(
        operation,
        (client) => open(pool, { client: client }),
        {
          code: 'STORE_FAILED',
          message: expect.stringMatching(/nothing was written.*statement_timeout/),
          cause: { code: '57014' },
        },
        { before: lock, after: () => locking.query('ROLLBACK') },
      );
      locking.release();
    },
  );

  describe.each([
    [
      'its own limit',
      { connectionTimeoutMillis: 100 },
      {},
      /within its own time limit, so nothing/,
    ],
    ['acquireTimeoutMs', {}, { acquireTimeoutMs: 50 }, /acquireTimeoutMs.*nothing was done/],
  ])('whose pool gives no connection within %s', (_limit, ofPool, options, message) => {
    it.each(all)('refuses %s', async (_, operation) => {
      const pool = openPool({ max: 1 });
      const held = await pool.connect();
      // From now on: on a busy machine the first connection may take longer.
      Object.assign(pool.options, ofPool);
      await expectRefusal(operation, (client) => open(pool, { client, ...options }), {
        code: 'STORE_TIMEOUT',
        message: expect.stringMatching(message),
      });
      held.release();
    });
  });
});

describe.skipIf(!hasPostgres)('a server that has stopped', () => {
  let server: ThrowawayServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('refuses every operation, sends nothing, and does all of it once it is back', async () => {
    const service = new ContractService();
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => {});
    const store = open(pool, { client: service.client });
    await store.setup();
    const client = await pool.connect();
    await client.query('BEGIN');
    await store.record(order('recorded'), { tx: client });
    await client.query('COMMIT');
    client.release();
    await server.kill();
    // On a connection whose end was not heard yet, it would be unknown what was done.
    await expect.poll(() => pool.totalCount).toBe(0);
    const ran: unknown[] = [];
    const scene: OperationScene = {
      recorded: 'recorded',
      added: 'added',
      onWork: (event) => ran.push(event),
    };
    for (const { name, run } of operations) {
      const error: { code?: string; message: string; cause?: unknown } = await run(
        store,
        scene,
      ).then(
        () => new Error(`${name} did not fail`),
        (reason) => reason,
      );
      expect(error, name).toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringMatching(NOTHING_DONE),
        cause: expect.any(Error),
      });
    }
    await expect(store.setup()).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(service.requestsFor('recorded')).toEqual([]);
    expect(ran).toEqual([]);
    await server.restart();
    for (const { run } of operations) await expectDone(run(store, scene));
    expect(service.requestsFor('recorded')).toHaveLength(1);
    expect(service.requestsFor('added')).toHaveLength(1);
    expect(ran).toHaveLength(1);
    await pool.end();
  });
});
