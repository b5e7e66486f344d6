import { Worker } from 'node:worker_threads';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { fromDrizzle } from '../../src/store/providers/drizzle.js';
import { fromKysely } from '../../src/store/providers/kysely.js';
import { ContractService } from '../contract/store/service.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, nothing, order } from './change.js';
import { operations } from './operations.js';
import { recordMessages } from './recorded-messages.js';
import { useSchema } from './server.js';

const schema = 'mp_dead_connections';
const { openPool, observer, transaction, statusesOf, countRecorded } = useSchema(schema);

/** Ends the idle connections of a pool while this thread is blocked, so that the pool does not hear of it. */
function endUnheard(application: string): void {
  const isDone = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads');
    const pg = require('pg');
    (async () => {
      const client = new pg.Client({ connectionString: workerData.url });
      await client.connect();
      await client.query(
        'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1',
        [workerData.application],
      );
      await client.end();
      Atomics.store(workerData.isDone, 0, 1);
      Atomics.notify(workerData.isDone, 0);
    })();`,
    { eval: true, workerData: { url: process.env['DATABASE_URL'], application, isDone } },
  );
  worker.unref();
  expect(Atomics.wait(isDone, 0, 0, 60_000)).toBe('ok');
}

/** Opens so many connections, which are then idle. */
async function warmUp(pool: pg.Pool, count: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()));
  for (const client of clients) client.release();
}

let pools = 0;
/** A pool whose idle connections have all died, of which it does not know yet. */
async function openDead<Database>(count: number, open: (pool: pg.Pool) => Database) {
  pools += 1;
  const application = `${schema}_${pools}`;
  const pool = openPool({ application_name: application });
  pool.on('error', () => undefined);
  const database = open(pool);
  const { take } = recordMessages(pool);
  await warmUp(pool, count);
  return { pool, database, take, die: () => endUnheard(application) };
}

const forms = {
  pg: (pool: pg.Pool) => pool,
  Kysely(pool: pg.Pool) {
    // As the guide says: otherwise the loss of a connection ends the process.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return fromKysely(new Kysely({ dialect: new PostgresDialect({ pool }) })) as never;
  },
} as const;

describe.skipIf(!process.env['DATABASE_URL'])('connections that died while nobody heard', () => {
  describe.each(Object.entries(forms))('of a pool, on %s,', (form, open) => {
    it.each(
      operations.flatMap((operation) =>
        [1, 5].map((count) => [operation.name, count, operation] as const),
      ),
    )('do not keep %s from being done, with %i of them', async (name, count, { run }) => {
      const service = new ContractService();
      const { database, die } = await openDead(count, open);
      const store = postgresStore(database, { client: service.client }) as PaymentStore<unknown>;
      const recorder = postgresStore<pg.PoolClient>(observer, { client: service.client });
      const recorded = `dead-${form}-${name}-${count}`;
      const added = `${recorded}-added`;
      await transaction((tx) => recorder.record(order(recorded), { tx }));
      const ran: unknown[] = [];
      die();
      const running = run(store, { recorded, added, onWork: (event) => ran.push(event) });
      // A payment that was not sent can't be resolved.
      await running.catch((error) => expect(error).toMatchObject({ code: 'STATE_CHANGED' }));
      expect(ran).toHaveLength(name === 'process' ? 1 : 0);
      expect(service.requestsFor(added)).toHaveLength(name === 'create' ? 1 : 0);
      expect(service.requestsFor(recorded).length).toBeLessThanOrEqual(1);
      if (name === 'create')
        expect(await store.get(added)).toMatchObject({ state: 'created', attempts: 1 });
    });
  });

  it('do not stay with Drizzle, which would have none left', async () => {
    const { pool, database, die } = await openDead(2, (given) => fromDrizzle(drizzle(given)));
    const store = postgresStore(database);
    for (let time = 0; time < 3; time += 1) {
      if (time > 0) await warmUp(pool, 2);
      die();
      expect(await outcomeOf(store, change(`drizzle-${time}`), nothing)).toBe('processed');
    }
    expect({ taken: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }).toEqual({
      taken: 0,
      waiting: 0,
    });
  });

  it('are tried twice at most before the work, and then say that nothing was done', async () => {
    const { pool, take, die } = await openDead(1, forms.pg);
    const store = postgresStore<pg.PoolClient>(pool);
    const begun: string[] = [];
    // Each new connection dies, too.
    pool.on('connect', (client) => {
      const query = client.query.bind(client);
      client.query = (async (text: string) => {
        begun.push(text);
        await observer.query('SELECT pg_terminate_backend($1, 5000)', [
          (client as unknown as { processID: number }).processID,
        ]);
        return query(text);
      }) as never;
    });
    let runs = 0;
    die();
    const running = outcomeOf(store, change('twice'), async () => {
      runs += 1;
    });
    await expect(running).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(/lost before its transaction had begun, so nothing was done/),
    });
    expect(runs).toBe(0);
    expect([...take(), ...begun].filter((text) => text.startsWith('BEGIN'))).toHaveLength(2);
    expect(await countRecorded('twice')).toBe(0);
  });

  it('are not tried again once the work has begun', async () => {
    const pool = openPool({ application_name: `${schema}_begun` });
    pool.on('error', () => undefined);
    const store = postgresStore<pg.PoolClient>(pool);
    let runs = 0;
    const running = outcomeOf(store, change('begun'), async ({ tx }) => {
      runs += 1;
      await tx.query("INSERT INTO orders VALUES ('begun', 'paid')");
      endUnheard(`${schema}_begun`);
    });
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(runs).toBe(1);
    expect(await statusesOf('begun')).toEqual([]);
    expect(await outcomeOf(store, change('begun'), nothing)).toBe('processed');
  });

  it('may have stored a claim whose answer was lost: its sender takes it up and sends once', async () => {
    const service = new ContractService();
    const pool = openPool({ max: 1 });
    let isLost = false;
    pool.on('connect', (client) => {
      const query = client.query.bind(client);
      client.query = (async (text: string) => {
        const answer = await query(text);
        if (isLost || !text.startsWith('/*')) return answer;
        isLost = true;
        throw new Error('Connection terminated unexpectedly');
      }) as never;
    });
    const store = postgresStore<pg.PoolClient>(pool, { client: service.client });
    expect(await store.create(order('taken-up'))).toMatchObject({ state: 'created', attempts: 1 });
    expect(isLost).toBe(true);
    expect(service.requestsFor('taken-up')).toHaveLength(1);
  });
});
