import { describe, expect, test, vi } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { expectToListWhatLiesAhead } from '../store/clock-set-back.js';
import { order } from '../store/orders.js';
import { unusedClient } from '../store/unused-client.js';
import { drivers, type OpenDatabase } from './open-database.js';
import { readAll, Scene } from './scene.js';

const CLIENT = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key', apiSecret: 'secret', maxRetries: 0 };

function clientThat(answer: () => Promise<Response>): PaymentClient {
  return new PaymentClient({ ...CLIENT, fetch: answer });
}

describe.each(drivers)('with $name', ({ open }) => {
  const scene = new Scene(open);

  async function openStore({ client = unusedClient, database = scene.connect() } = {}) {
    const store = sqliteStore(database, { client, now: scene.now });
    await store.setup();
    return { store, database };
  }

  describe('record', () => {
    test('stores in a transaction of the connection, and is rolled back with it', async () => {
      const { store, database } = await openStore();
      database.exec('CREATE TABLE orders (reference TEXT PRIMARY KEY)');
      const begin = () => database.exec("BEGIN; INSERT INTO orders VALUES ('order-1')");
      begin();
      store.record(order('order-1'), { sync: true });
      expect(() => store.record({ ...order('order-1'), amount: 1 }, { sync: true })).toThrow(
        expect.objectContaining({ code: 'REFERENCE_CONFLICT' }),
      );
      database.exec('ROLLBACK');
      expect(await store.get('order-1')).toBeUndefined();

      begin();
      await store.record(order('order-1'), { tx: database });
      database.exec('COMMIT');
      expect(await store.get('order-1')).toMatchObject({ state: 'recorded' });

      database.exec('BEGIN');
      const extraBody = { customer: 'c-1' };
      expect(store.record(order('order-2'), { sync: true, extraBody })).toBeUndefined();
      database.exec('COMMIT');
      expect(await store.get('order-2')).toMatchObject({ state: 'recorded', extraBody });
    });

    test('with sync fits a transaction that is one function', async ({ skip }) => {
      const { store, database } = await openStore();
      const { transaction } = database as unknown as {
        transaction?: (body: () => void) => () => void;
      };
      skip(transaction === undefined, 'only better-sqlite3 has such transactions');
      const run = (body: () => void) => transaction?.call(database, body)();
      run(() => store.record(order('order-1'), { sync: true }));
      const broken = () => {
        store.record(order('order-2'), { sync: true });
        throw new Error('broken');
      };
      expect(() => run(broken)).toThrow('broken');
      expect(await store.get('order-1')).toMatchObject({ state: 'recorded' });
      expect(await store.get('order-2')).toBeUndefined();
    });

    test('refuses a tx of another connection, and a connection without a transaction', async ({
      skip,
    }) => {
      const { store, database } = await openStore();
      const refused = (received: string) => ({
        option: 'tx',
        message: `tx must be the database that the store was made from, with your transaction open on it; received ${received}`,
      });
      await expect(store.record(order('order-2'), { tx: scene.connect() })).rejects.toMatchObject(
        refused('something else'),
      );
      skip(
        database.inTransaction === undefined && database.isTransaction === undefined,
        'this driver does not tell whether a transaction is open',
      );
      const opened = refused('that database without a transaction');
      await expect(store.record(order('order-2'), { tx: database })).rejects.toMatchObject(opened);
      expect(() => store.record(order('order-2'), { sync: true })).toThrow(
        expect.objectContaining({
          option: 'database',
          message: expect.stringContaining('with sync; received one without a transaction'),
        }),
      );
      expect(await store.get('order-2')).toBeUndefined();
    });

    test.each<[object | null | undefined, string]>([
      [{ sync: false }, 'context.sync must be true, or left out with tx in its place'],
      [{ sync: true, tx: undefined }, 'context.tx is not a known option'],
      [{ sync: true, extra: 1 }, 'context.extra is not a known option; use context.extraBody'],
    ])('with sync refuses the context %j, at once', async (context, says) => {
      const { store, database } = await openStore();
      database.exec('BEGIN');
      expect(() => store.record(order('order-1'), context as never)).toThrow(says);
      database.exec('COMMIT');
      expect(await store.get('order-1')).toBeUndefined();
    });

    test('without a tx waits for an open transaction, and for another connection that locks the file', async () => {
      const { store, database } = await openStore();
      for (const blocking of [database, scene.connect()]) {
        const reference = `order-${blocking === database}`;
        blocking.exec('BEGIN IMMEDIATE');
        let done = false;
        const recording = store.record(order(reference), { tx: undefined }).then(() => {
          done = true;
        });
        await new Promise(setImmediate);
        expect(done).toBe(false);
        blocking.exec('ROLLBACK');
        await recording;
        expect(await store.get(reference)).toMatchObject({ state: 'recorded' });
      }
    });

    test('fails with STORE_TIMEOUT in a transaction that finds the file locked', async () => {
      const { store, database } = await openStore();
      const other = scene.connect();
      other.exec('BEGIN IMMEDIATE');
      database.exec('BEGIN');
      const failed = {
        code: 'STORE_TIMEOUT',
        message: expect.stringContaining('BEGIN IMMEDIATE'),
        cause: expect.objectContaining({ message: 'database is locked' }),
      };
      await expect(store.record(order('order-1'), { tx: database })).rejects.toMatchObject(failed);
      expect(() => store.record(order('order-1'), { sync: true })).toThrow(
        expect.objectContaining(failed),
      );
      database.exec('ROLLBACK');
      other.exec('ROLLBACK');
    });

    test('fails with an error of the package in a transaction that can not write', async () => {
      const { store, database } = await openStore();
      database.exec('PRAGMA query_only = 1; BEGIN');
      const failed = {
        code: 'STORE_FAILED',
        cause: expect.objectContaining({ message: expect.stringContaining('readonly') }),
      };
      await expect(store.record(order('order-1'), { tx: database })).rejects.toMatchObject(failed);
      expect(() => store.record(order('order-1'), { sync: true })).toThrow(
        expect.objectContaining(failed),
      );
      database.exec('ROLLBACK');
    });
  });

  describe('a claim', () => {
    test('is on disk before the payment is sent', async () => {
      const database = scene.connect();
      const levels: unknown[] = [];
      const client = clientThat(async () => {
        levels.push(Number(readAll(database, 'PRAGMA synchronous')[0]));
        return Response.json({}, { status: 422 });
      });
      const { store } = await openStore({ client, database });
      for (const reference of ['order-1', 'order-2']) {
        expect(await store.create(order(reference))).toMatchObject({ state: 'rejected' });
      }
      expect(levels).toEqual([2, 2]);
    });

    test('is committed before the payment is sent, which another reader may prevent', async () => {
      const [reader, observer] = [scene.connect(), scene.connect()];
      const state = () =>
        readAll(observer, 'SELECT state FROM payment_store_payments WHERE attempts = 1')[0];
      let stateWhenSent: unknown;
      const client = clientThat(async () => {
        stateWhenSent = state();
        return Response.json({ referenceNumber: 'PAY-5' }, { status: 201 });
      });
      const { store } = await openStore({ client });
      reader.exec('BEGIN');
      readAll(reader, 'SELECT count(*) FROM payment_store_payments');
      const creating = store.create(order('order-5'));
      await new Promise(setImmediate);
      reader.exec('COMMIT');
      await creating;
      expect(stateWhenSent).toBe('sending');
      expect(state()).toBe('unheard');
    });
  });

  test('reads nothing inside an open transaction on the connection', async () => {
    const { store, database } = await openStore();
    database.exec('BEGIN');
    store.record(order('order-open'), { sync: true });
    const reading = store.get('order-open');
    database.exec('ROLLBACK');
    expect(await reading).toBeUndefined();
  });

  test('lists and sends payments that were stored before the clock was set back', async () => {
    const { database } = await openStore();
    await expectToListWhatLiesAhead(
      (client) => sqliteStore(database, { client, now: scene.now }),
      () => {
        scene.nowMs -= 3_600_000;
      },
    );
  });

  test.each<[string, (database: OpenDatabase) => OpenDatabase]>([
    ['another connection had the file locked', () => scene.connect()],
    ['a transaction or an iterate() was open on the connection', (database) => database],
  ])('gives up after five seconds in which %s', async (blocked, toBlocking) => {
    const { store, database } = await openStore();
    const blocking = toBlocking(database);
    blocking.exec('BEGIN IMMEDIATE');
    const recording = store.record(order('order-blocked'), { tx: undefined });
    const later = performance.now() + 5_000;
    const now = vi.spyOn(performance, 'now').mockReturnValue(later);
    const error = (await recording.catch((thrown) => thrown)) as Error;
    now.mockRestore();
    blocking.exec('ROLLBACK');
    expect(error).toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining(`written within 5000 ms, because ${blocked}.`),
    });
    const cause = blocking === database ? undefined : 'database is locked';
    expect((error.cause as Error | undefined)?.message).toBe(cause);
    expect(await store.get('order-blocked')).toBeUndefined();
  });
});
