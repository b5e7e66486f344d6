import { inspect } from 'node:util';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { fromDrizzle } from '../../src/postgres/index.js';
import { postgresStore, postgresStore } from '../../src/postgres/postgres-store.js';
import type { PaymentOutbox } from '../../src/store/store.js';
import { expectToListWhatLiesAhead } from '../clock-set-back.js';
import { ContractService } from '../contract/store/service.js';
import { order } from './change.js';
import { useSchema } from './server.js';
import { unusedClient } from './unused-client.js';

describe.skipIf(!process.env['DATABASE_URL'])('the connections of postgresStore', () => {
  const { openPool, observer, schema, transaction } = useSchema();

  /** How many connections of the file wait for a lock. */
  const waiting = async () => {
    const { rows } = await observer.query(
      `SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
      [schema],
    );
    return rows.length;
  };

  /** A pool with another query(). */
  const wrapPool = (query: (text: string, client: pg.PoolClient) => Promise<unknown>) => {
    const pool = openPool({ max: 1 });
    return {
      async connect() {
        const client = await pool.connect();
        return {
          query: (text: string) => query(text, client),
          release: client.release.bind(client),
          on: client.on.bind(client),
          removeListener: client.off.bind(client),
        };
      },
    } as never;
  };

  it('sends nothing on a connection that was released with its transaction open, and closes it', async () => {
    const service = new ContractService();
    const pool = openPool({ max: 1 });
    const store = postgresStore(pool, { client: service.client });
    const client = await pool.connect();
    await client.query('BEGIN');
    client.release();
    await expect(store.create(order('order-1'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { message: expect.stringContaining('an open transaction') },
    });
    expect(service.requestsFor('order-1')).toEqual([]);
    expect(await store.create(order('order-1'))).toMatchObject({ state: 'created' });
    expect(service.requestsFor('order-1')).toHaveLength(1);
  });

  it('on an ORM, claims nothing for a call that has given up before it got a connection', async () => {
    const pool = openPool({ max: 1 });
    const provider = fromDrizzle(drizzle({ client: pool }));
    const limits = { acquireTimeoutMs: 50, commandTimeoutMs: 50 };
    const store = postgresStore(provider, { client: unusedClient, ...limits });
    const held = await pool.connect();
    await expect(store.create(order('too-late'))).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
    });
    held.release();
    // The pool serves it after what has waited before.
    const { rows } = await pool.query('SELECT reference FROM payment_store_payments');
    expect(rows).not.toContainEqual({ reference: 'too-late' });
  });

  it('setup gives up a lock for which other transactions would wait in turn', async () => {
    const prefix = 'in_use_';
    const store = postgresStore(openPool(), { client: unusedClient, prefix });
    await store.setup();
    const { rows } = await observer.query(
      `SELECT indexname AS name FROM pg_indexes WHERE tablename = $1 AND indexname NOT LIKE '%pkey' LIMIT 1`,
      [`${prefix}payments`],
    );
    await observer.query(`DROP INDEX ${rows[0].name}`);
    await transaction(async (tx) => {
      await tx.query(`LOCK TABLE ${prefix}payments IN ROW EXCLUSIVE MODE`);
      await expect(store.setup()).rejects.toMatchObject({ cause: { code: '55P03' } });
      expect(await waiting()).toBe(0);
    });
    await store.setup();
  });

  it.each([
    ['off', 'on'],
    ['local', 'local'],
  ])(
    'commits claims, and what is settled by itself, where synchronous_commit is %s, with %s',
    async (setting, expected) => {
      const service = new ContractService();
      const prefix = `commits_${setting}_`;
      const pool = openPool({ options: `-c synchronous_commit=${setting}` });
      const store = postgresStore<pg.PoolClient>(pool, { client: service.client, prefix });
      await store.setup();
      // Deferred, it runs at the commit.
      await observer.query(`CREATE TABLE ${prefix}seen (reference text, state text, setting text);
      CREATE FUNCTION ${prefix}note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.${prefix}seen VALUES (NEW.reference, NEW.state, current_setting('synchronous_commit'));
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON ${prefix}payments
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${prefix}note()`);
      const paid = {
        merchantPaymentReference: 'order-settled',
        referenceNumber: 'PAY-1',
        providerReference: 'provider-1',
        status: 'paid',
        createdAt: '2026-01-31T12:00:00+00:00',
        updatedAt: '2026-01-31T12:00:00+00:00',
      };
      service.answer('order-new', 422);
      await store.create(order('order-new')).catch(() => undefined);
      await store.create(order('order-new'));
      await transaction((tx) => store.record(order('order-recorded'), { tx }));
      await store.send('order-recorded');
      await transaction((tx) => store.record(order('order-settled'), { tx }));
      expect(await store.settle(paid, { tx: undefined as never })).toBe('settled');
      const { rows } = await observer.query(
        `SELECT setting FROM ${prefix}seen
       WHERE state = 'sending' OR (state = 'created' AND reference = 'order-settled')`,
      );
      expect(rows).toEqual(Array(4).fill({ setting: expected }));
    },
  );

  it('sends nothing through a pool that hides the number of changed rows', async () => {
    const service = new ContractService();
    const hiding = wrapPool(async (text, client) => ({ rows: (await client.query(text)).rows }));
    const store = postgresStore(hiding, { client: service.client });
    await expect(store.create(order('order-1'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('a wrapper of the pool'),
    });
    expect(service.requestsFor('order-1')).toEqual([]);
  });

  it('fails instead of listing nothing, settling or pruning through a pool that hides rows', async () => {
    const hiding = wrapPool(async () => ({ rows: [], rowCount: 0 }));
    const store = postgresStore<pg.PoolClient>(hiding, { client: unusedClient });
    const payment = { merchantPaymentReference: 'order-1', referenceNumber: 'PAY-1' } as never;
    for (const step of [
      () => store.unresolved()[Symbol.asyncIterator]().next(),
      () => store.secondPayments()[Symbol.asyncIterator]().next(),
      () => store.recover(),
      () => store.prune(new Date()),
      () => store.settle(payment, { tx: undefined as never }),
    ]) {
      await expect(step()).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('a wrapper of the pool'),
      });
    }
  });

  it.each([
    ['without rows', async () => ({ rowCount: 1 })],
    ['with what a type parser made of the text', async () => ({ rows: [{ text: { parsed: 1 } }] })],
  ])('fails with an answer %s', async (_, query) => {
    const store = postgresStore(wrapPool(query), { client: unusedClient });
    await expect(store.get('order-1')).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(/^The pool changed what Postgres returned; /),
    });
  });

  it("withdraws a claim whose answer was lost, and hides the driver's message", async () => {
    const service = new ContractService();
    let isLost = false;
    const losing = wrapPool(async (text, client) => {
      const answer = await client.query(text);
      if (isLost) return answer;
      isLost = true;
      throw new Error(`the answer to ${text} was lost`);
    });
    const store = postgresStore(losing, { client: service.client });
    const error = await store.create(order('order-lost')).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'STORE_FAILED',
      cause: { message: 'the driver failed (Error)' },
    });
    expect(inspect(error)).not.toContain('order-lost');
    await expect
      .poll(async () => (await store.get('order-lost'))?.state, { timeout: 20_000 })
      .toBe('recorded');
    expect(service.requestsFor('order-lost')).toEqual([]);
    expect(await store.create(order('order-lost'))).toMatchObject({ state: 'created' });
  });

  it('sets up nothing for a role that may not create tables, if they exist', async () => {
    const role = 'mp_outbox_setup_app';
    const dropRole = `DO $$ BEGIN IF to_regrole('${role}') IS NOT NULL THEN
      EXECUTE 'DROP OWNED BY ${role}; DROP ROLE ${role}'; END IF; END $$`;
    await observer.query(
      `${dropRole}; CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    );
    try {
      const pool = openPool({ options: `-c search_path=${schema} -c role=${role}` });
      await postgresStore(pool, { client: unusedClient }).setup();
      const elsewhere = postgresStore(pool, { client: unusedClient, prefix: 'not_migrated_' });
      await expect(elsewhere.setup()).rejects.toMatchObject({
        code: 'STORE_FAILED',
        cause: { code: '42501' },
      });
    } finally {
      await observer.query(dropRole);
    }
  });

  it('sets up once when eight processes do so at the same time', async () => {
    const pools = Array.from({ length: 8 }, () => openPool({ max: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    for (const prefix of ['once_', 'twice_', 'thrice_']) {
      const stores = pools.map((pool) => postgresStore(pool, { client: unusedClient, prefix }));
      await Promise.all(stores.map((store) => store.setup()));
      expect(await stores[0]?.get('order-1')).toBeUndefined();
    }
  });

  it('prunes any number, and treats a tx of null like none', async () => {
    const store = postgresStore<pg.PoolClient>(openPool(), {
      client: unusedClient,
      prefix: 'pruned_',
    });
    await store.setup();
    const [first, ...others] = Array.from({ length: 1_500 }, (_, index) => `order-${index}`);
    await store.settle({ merchantPaymentReference: first, referenceNumber: 'PAY-1' } as never, {
      tx: null as never,
    });
    await transaction((tx) => store.record(order(String(first)), { tx }));
    await observer.query('UPDATE pruned_payments SET state = $1', ['rejected']);
    const { rows } = await observer.query('SELECT * FROM pruned_payments');
    const columns = Object.keys(rows[0] ?? {});
    const copied = columns.map((column) => (column === 'reference' ? 'other' : column)).join();
    await observer.query(
      `INSERT INTO pruned_payments (${columns.join()})
       SELECT ${copied} FROM pruned_payments, unnest($1::text[]) AS other`,
      [others],
    );
    expect(await store.prune(new Date(Date.now() + 60_000))).toBe(1_500);
  });

  it('records only in an open transaction', async () => {
    const pool = openPool({ max: 2 });
    const store = postgresStore<pg.PoolClient>(pool, { client: unusedClient });
    const client = await pool.connect();
    const recording = (tx: unknown) => store.record(order('order-2'), { tx: tx as pg.PoolClient });
    for (const [tx, received] of [
      [undefined, 'tx is missing'],
      [null, 'received null'],
      [pool, 'a pool'],
      [client, 'a client without a transaction'],
      ['BEGIN', 'without query()'],
    ] as const) {
      await expect(recording(tx)).rejects.toMatchObject({
        option: 'tx',
        message: expect.stringContaining(received),
      });
    }
    expect(await store.get('order-2')).toBeUndefined();
    await client.query('BEGIN');
    await recording(client);
    await client.query('COMMIT');
    expect(await store.get('order-2')).toMatchObject({ state: 'recorded' });
    client.release();
  });

  it('withdraws a claim that waited for too long, which Postgres would grant after its sender has given up', async () => {
    const service = new ContractService();
    const store = postgresStore<pg.PoolClient>(openPool(), {
      client: service.client,
      commandTimeoutMs: 200,
    });
    const patient = postgresStore(openPool(), { client: service.client });
    const undone = new Error('the order was not stored');
    let other: Promise<unknown> | undefined;
    const call = transaction(async (tx) => {
      await store.record(order('order-3'), { tx });
      await store.record(order('order-patient'), { tx });
      other = patient.create(order('order-patient'));
      await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
      await expect(store.create(order('order-3'))).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        message: expect.stringMatching(
          /^Postgres did not answer within 200 ms \(commandTimeoutMs; /,
        ),
      });
      // Those of Postgres that wait are not told that their connection is closed.
      await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
      throw undone;
    });
    await expect(call).rejects.toBe(undone);
    expect(await other).toMatchObject({ state: 'created', attempts: 1 });
    expect(await store.get('order-3')).toBeUndefined();
    expect(await store.create(order('order-3'))).toMatchObject({ state: 'created', attempts: 1 });
    expect(service.requestsFor('order-3')).toHaveLength(1);
  });

  it.each([
    ['whose connection is cut', undefined],
    ['that the pool ends first', 200],
  ])('takes back a claim %s while it waits', async (_, queryTimeout) => {
    const service = new ContractService();
    const pool = openPool(queryTimeout === undefined ? {} : { query_timeout: queryTimeout });
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    const store = postgresStore<pg.PoolClient>(pool, { client: service.client });
    const reference = `order-cut-${queryTimeout}`;
    const cut = () =>
      observer.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = $1 AND wait_event_type = 'Lock'`,
        [schema],
      );
    const undone = new Error('the order was not stored');
    const call = transaction(async (tx) => {
      await store.record(order(reference), { tx });
      let isOver = false;
      const creating = expect(store.create(order(reference)))
        .rejects.toMatchObject({ code: 'STORE_FAILED' })
        .finally(() => {
          isOver = true;
        });
      while (!isOver && queryTimeout === undefined) await cut();
      await creating;
      await expect.poll(waiting, { timeout: 20_000 }).toBe(0);
      throw undone;
    });
    await expect(call).rejects.toBe(undone);
    await expect.poll(() => store.get(reference)).toBeUndefined();
    expect(await store.create(order(reference))).toMatchObject({ state: 'created', attempts: 1 });
    expect(service.requestsFor(reference)).toHaveLength(1);
  });

  it('leaves the pool intact after thousands of calls have given up waiting for a connection', async () => {
    const service = new ContractService();
    const pool = openPool({ max: 2 });
    const store = postgresStore(pool, { client: service.client, acquireTimeoutMs: 100 });
    const held = [await pool.connect(), await pool.connect()];
    const calls = Array.from({ length: 3_000 }, (_, index) =>
      store.create(order(`order-waiting-${index}`)),
    );
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({
        reason: {
          code: 'STORE_TIMEOUT',
          message:
            "The pool provided no connection within acquireTimeoutMs; check that the server can be reached, find what holds the pool's connections, make it larger, or set the pool's connectionTimeoutMillis",
        },
      });
    }
    // Nothing was sent, so nothing is taken back: that would wait as well.
    expect(pool.waitingCount).toBe(3_000);
    for (const client of held) client.release();
    expect((await pool.query(`SELECT 'alive' AS pool`)).rows).toEqual([{ pool: 'alive' }]);
    await expect
      .poll(() => [pool.waitingCount, pool.idleCount, pool.totalCount])
      .toEqual([0, 2, 2]);
    expect(service.requestsFor('order-waiting-0')).toEqual([]);
  });

  it('closes a connection to a server that has become read-only', async () => {
    const service = new ContractService();
    const pool = openPool({ max: 1 });
    const store = postgresStore(pool, { client: service.client });
    await pool.query('SET default_transaction_read_only = on');
    await expect(store.create(order('order-standby'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { code: '25006' },
    });
    expect(await store.create(order('order-standby'))).toMatchObject({ state: 'created' });
  });

  it.each(['repeatable read', 'serializable'])(
    'creates each payment once, and replays it, where the default is %s',
    async (level) => {
      const service = new ContractService();
      const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
      const stores = [openPool({ options }), openPool({ options })].map((pool) =>
        postgresStore(pool, { client: service.client }),
      );
      for (let round = 0; round < 20; round += 1) {
        const input = order(`order-${level.replace(' ', '-')}-${round}`);
        const payments = await Promise.all(stores.map((store) => store.create(input)));
        expect(payments.map(({ state }) => state)).toEqual(['created', 'created']);
        expect(service.requestsFor(input.merchantPaymentReference)).toHaveLength(1);
      }
    },
  );

  it.each([
    ['create', 'INSERT', (store: PaymentOutbox) => store.create(order('order-tried'))],
    ['send', 'UPDATE', (store: PaymentOutbox) => store.send('order-recorded')],
  ])('gives up %s when another transaction is in the way ten times', async (name, event, step) => {
    const prefix = `tried_${name}_`;
    const pool = openPool();
    const store = postgresStore<pg.PoolClient>(pool, { client: unusedClient, prefix });
    await store.setup();
    await transaction((tx) => store.record(order('order-recorded'), { tx }));
    // What a sequence has counted no rollback takes back.
    await observer.query(`CREATE SEQUENCE ${prefix}tries;
      CREATE FUNCTION ${prefix}undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.state = 'sending' THEN
          PERFORM nextval('${schema}.${prefix}tries');
          RAISE EXCEPTION USING ERRCODE = '40001';
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER undo BEFORE ${event} ON ${prefix}payments
        FOR EACH ROW EXECUTE FUNCTION ${prefix}undo()`);
    await expect(step(store as PaymentOutbox)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message:
        'Postgres, or the connection to it, failed during a step of the store; see cause. It is unknown whether the step was done; it is safe to repeat it',
      cause: { code: '40001' },
    });
    const { rows } = await observer.query(`SELECT last_value::int AS tries FROM ${prefix}tries`);
    expect(rows).toEqual([{ tries: 10 }]);
  });

  it('asks Postgres whether a transaction is open if the client does not know', async () => {
    const store = postgresStore<pg.PoolClient>(openPool(), { client: unusedClient });
    const client = await openPool().connect();
    // As in a pg before 8.18.
    Object.assign(client, { getTransactionStatus: undefined });
    const input = order('order-old-pg');
    await expect(store.record(input, { tx: client })).rejects.toMatchObject({
      option: 'tx',
      message: 'tx must be an open transaction; received one that has ended',
    });
    expect(await store.get('order-old-pg')).toBeUndefined();
    await client.query('BEGIN');
    await store.record(input, { tx: client });
    await client.query('COMMIT');
    expect(await store.get('order-old-pg')).toMatchObject({ state: 'recorded' });
    client.release();
  });

  it('keeps the record of the service in a database whose encoding lacks a character of it', async () => {
    const database = `${schema}_latin1`;
    await observer.query(
      `CREATE DATABASE ${database} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`,
    );
    const connectionString = new URL(process.env['DATABASE_URL'] ?? '');
    connectionString.pathname = database;
    const pool = new pg.Pool({ connectionString: String(connectionString) });
    const service = new ContractService();
    const store = postgresStore<pg.PoolClient>(pool, { client: service.client });
    const store = postgresStore(pool);
    await store.setup();
    await store.setup();
    const extraBody = { payer: 'Łukasz 💳' };
    const { payment } = await store.create(order('order-latin1'), { extraBody });
    const referenceNumber = payment?.referenceNumber;
    const found = {
      ...{ merchantPaymentReference: 'order-latin1', referenceNumber, ...extraBody },
      updatedAt: '2999-01-31T12:00:00+00:00',
    };
    expect(await store.settle(found as never, { tx: undefined as never })).toBe('known');
    expect(await store.get('order-latin1')).toMatchObject({ extraBody, payment: extraBody });
    const event = { key: 'k', paymentReference: 'p', occurredAt: new Date(), processStale: false };
    const failing = () => Promise.reject(new Error('no room for Łukasz'));
    await expect(store.process(event, failing)).rejects.toThrow('no room for Łukasz');
    for await (const { error } of store.failedChanges()) {
      expect(error.message).toBe('no room for Łukasz');
    }
    await pool.end();
    await observer.query(`DROP DATABASE ${database}`);
    expect.assertions(4);
  });

  it('explains that its tables are those of a store with the same prefix', async () => {
    const pool = openPool();
    await postgresStore(pool, { prefix: 'shop_' }).setup();
    const store = postgresStore(pool, { client: unusedClient, prefix: 'shop_' });
    for (const step of [() => store.setup(), () => store.create(order('order-4'))]) {
      await expect(step()).rejects.toMatchObject({
        code: 'MISSING_TABLES',
        message: expect.stringContaining('a store with the same prefix'),
        cause: { code: '42703' },
      });
    }
    await postgresStore(pool, { client: unusedClient, prefix: 'store_' }).setup();
    const store = postgresStore(pool, { prefix: 'store_' });
    await store.setup();
    await expect(store.prune(new Date())).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringContaining('a store with the same prefix'),
    });
  });

  it('explains that its database does not exist', async () => {
    const url = new URL(process.env['DATABASE_URL'] ?? '');
    url.pathname = '/mp_no_such_database';
    const pool = openPool({ connectionString: url.href });
    const store = postgresStore(pool, { client: unusedClient });
    const store = postgresStore(pool);
    for (const step of [
      () => store.setup(),
      () => store.create(order('order-5')),
      () => store.setup(),
      () => store.prune(new Date()),
    ]) {
      await expect(step()).rejects.toMatchObject({
        code: 'MISSING_TABLES',
        message: expect.stringContaining('create the database if it is missing'),
        cause: { code: '3D000' },
      });
    }
  });

  it('lists and sends payments that were stored before the clock was set back', async () => {
    await expectToListWhatLiesAhead(
      (client) => postgresStore(observer, { client }),
      () =>
        observer.query(
          'UPDATE payment_store_payments SET sent_at_ms = sent_at_ms + 3600000, changed_at_ms = changed_at_ms + 3600000',
        ),
    );
  });
});
