import { inspect } from 'node:util';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { fromDrizzle } from '../../src/postgres/index.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { ContractService } from '../contract/store/service.js';
import { recordIn } from '../contract/store/stage.js';
import { expectToListWhatLiesAhead } from '../store/clock-set-back.js';
import { outcomeOf } from '../store/outcome-of.js';
import { unusedClient } from '../store/unused-client.js';
import { change, collect, nothing, order } from './change.js';
import { useSchema } from './server.js';

describe.skipIf(!process.env['DATABASE_URL'])(
  'payments on the connections of postgresStore',
  () => {
    const schema = 'mp_creation';
    const {
      openPool: openSchemaPool,
      observer,
      transaction,
      countBlocked: waiting,
    } = useSchema(schema);
    // Of the store's own limits alone.
    const openPool = (config: pg.PoolConfig = {}) =>
      openSchemaPool({ ...config, options: `-c lock_timeout=0 ${config.options ?? ''}` });

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
      await expect(client.query('SELECT 1/0')).rejects.toThrow();
      client.release();
      await expect(store.create(order('order-1'))).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('an open transaction'),
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
      const { rows } = await pool.query(
        'SELECT merchant_payment_reference AS reference FROM payment_store_payments',
      );
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
    ])('commits everything, where synchronous_commit is %s, with %s', async (setting, expected) => {
      const service = new ContractService();
      const prefix = `commits_${setting}_`;
      const pool = openPool({ options: `-c synchronous_commit=${setting}` });
      const store = postgresStore<pg.PoolClient>(pool, { client: service.client, prefix });
      await store.setup();
      // Deferred, it runs at the commit.
      await observer.query(`CREATE TABLE ${prefix}seen (reference text, what text, setting text);
      CREATE FUNCTION ${prefix}note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.${prefix}seen
        VALUES (NEW.merchant_payment_reference, TG_ARGV[0], current_setting('synchronous_commit'));
        RETURN NULL;
      END $$;
      ${['payments', 'changes', 'failed_changes', 'second_payments']
        .map(
          (table) => `CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON ${prefix}${table}
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${prefix}note('${table}');`,
        )
        .join('\n')}`);
      service.answer('order-new', 422);
      await store.create(order('order-new')).catch(() => undefined);
      await store.create(order('order-new'));
      service.answer('order-lost', 'answer-lost');
      await store.create(order('order-lost'));
      await store.markCreated('order-lost', { referenceNumber: 'found' });
      await outcomeOf(store, change('order-new'), nothing);
      await outcomeOf(store, change('order-new', 1), () => Promise.reject('broken')).catch(
        () => {},
      );
      const { rows } = await observer.query(
        `SELECT DISTINCT what, setting FROM ${prefix}seen ORDER BY what`,
      );
      expect(rows).toEqual(
        ['changes', 'failed_changes', 'payments', 'second_payments'].map((what) => ({
          what,
          setting: expected,
        })),
      );
    });

    it('sends nothing through a pool that hides the number of changed rows', async () => {
      const service = new ContractService();
      const hiding = wrapPool(async (text, client) => ({ rows: (await client.query(text)).rows }));
      const store = postgresStore(hiding, { client: service.client });
      await expect(store.create(order('order-1'))).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('a wrapper of it'),
      });
      expect(service.requestsFor('order-1')).toEqual([]);
    });

    it.each([
      ['without rows', async () => ({ rowCount: 1 })],
      [
        'with what a type parser made of the text',
        async () => ({ rows: [{ text: { parsed: 1 } }] }),
      ],
    ])('fails with an answer %s', async (_, query) => {
      const store = postgresStore(wrapPool(query), { client: unusedClient });
      await expect(store.get('order-1')).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringMatching(/^The pool did not return the text that the database sent/),
      });
    });

    it("withdraws a claim whose answer was lost, and hides the driver's message", async () => {
      const service = new ContractService();
      let lost = 0;
      const losing = wrapPool(async (text, client) => {
        const answer = await client.query(text);
        lost += 1;
        // Its claim is tried once more.
        if (lost > 2) return answer;
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

    it('records only in an open transaction', async () => {
      const pool = openPool({ max: 2 });
      const store = postgresStore<pg.PoolClient>(pool, { client: unusedClient });
      const client = await pool.connect();
      const recording = (tx: unknown) =>
        store.record(order('order-2'), { tx: tx as pg.PoolClient });
      const unused = () => undefined;
      for (const [tx, received] of [
        [undefined, 'tx is missing'],
        [null, 'received null'],
        [pool, 'a pool'],
        [client, 'a client without a transaction'],
        [{ query: unused, exec: unused, transaction: unused }, 'a PGlite'],
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

    it('does not claim a payment after its sender has given up waiting', async () => {
      const service = new ContractService();
      const store = postgresStore<pg.PoolClient>(openPool(), {
        client: service.client,
        // The server ends the wait a tenth sooner, also on a busy machine.
        commandTimeoutMs: 2_000,
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
          message: expect.stringContaining('Another transaction held the payment for too long'),
        });
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
            message: expect.stringMatching(
              /^The pool provided no connection within acquireTimeoutMs .*nothing was done/,
            ),
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
      ['create', 11, (store: PaymentStore<unknown>) => store.create(order('order-tried'))],
      ['send', 10, (store: PaymentStore<unknown>) => store.send('order-recorded')],
    ])(
      'gives up %s when another transaction is in the way again and again',
      async (name, tries, step) => {
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
      CREATE TRIGGER undo BEFORE INSERT OR UPDATE ON ${prefix}payments
        FOR EACH ROW EXECUTE FUNCTION ${prefix}undo()`);
        await expect(step(store as PaymentStore<unknown>)).rejects.toMatchObject({
          code: 'STORE_FAILED',
          message: expect.stringContaining('nothing was written'),
          cause: { code: '40001' },
        });
        const { rows } = await observer.query(
          `SELECT last_value::int AS tries FROM ${prefix}tries`,
        );
        // A creation first tries a single statement.
        expect(rows).toEqual([{ tries }]);
      },
    );

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
      await store.setup();
      const extraBody = { payer: 'Łukasz 💳' };
      const payment = recordIn(await store.create(order('order-latin1'), { extraBody }));
      const referenceNumber = String(payment?.referenceNumber);
      const found = change('order-latin1', 0, { referenceNumber, ...extraBody } as never);
      expect(await outcomeOf(store, found, nothing)).toBe('processed');
      expect(await store.get('order-latin1')).toMatchObject({ extraBody, payment: extraBody });
      const failing = () => Promise.reject(new Error('no room for Łukasz'));
      await expect(outcomeOf(store, change('latin1'), failing)).rejects.toThrow(
        'no room for Łukasz',
      );
      const kept = await collect(store.attention({ kinds: ['failed-change'] }));
      expect(kept).toMatchObject([{ error: { message: 'no room for Łukasz' } }]);
      await pool.end();
      await observer.query(`DROP DATABASE ${database}`);
    });

    it('lists and sends payments that were stored before the clock was set back', async () => {
      await expectToListWhatLiesAhead(
        (client) => postgresStore(observer, { client }),
        () =>
          observer.query(
            `UPDATE payment_store_payments SET sent_at_ms = sent_at_ms + 3600000, changed_at_ms = changed_at_ms + 3600000;
          UPDATE payment_store_failed_changes SET first_failed_at_ms = first_failed_at_ms + 3600000;
          UPDATE payment_store_second_payments SET found_at_ms = found_at_ms + 3600000`,
          ),
      );
    });
  },
);
