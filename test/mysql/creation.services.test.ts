import type { Pool, PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/index.js';
import { ContractService } from '../contract/store/service.js';
import { order } from '../postgres/change.js';
import { startSwallowingProxy } from '../postgres/swallowing-proxy.js';
import { inDatabase } from '../services/mysql-url.js';
import { expectToListWhatLiesAhead } from '../store/clock-set-back.js';
import { unusedClient } from '../store/unused-client.js';
import { useDatabase } from './server.js';

describe.skipIf(!process.env['MYSQL_URL'])('payments on the connections of mysqlStore', () => {
  const database = 'mp_store_payments';
  const { openPool, observer, query, waitForBlocked, transaction } = useDatabase(database);

  /** A pool whose one connection was released with its transaction open. */
  const openForgetful = async (): Promise<Pool> => {
    const pool = openPool({ connectionLimit: 1 });
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.query("INSERT INTO orders VALUES ('forgotten', 'new')");
    connection.release();
    return pool;
  };

  it('sends nothing on a connection that was released with its transaction open, and closes it', async () => {
    const service = new ContractService();
    const store = mysqlStore(await openForgetful(), { client: service.client });
    await expect(store.create(order('order-1'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('an open transaction'),
    });
    expect(service.requestsFor('order-1')).toEqual([]);
    expect(await query('SELECT * FROM orders')).toEqual([]);
    expect(await store.create(order('order-1'))).toMatchObject({ state: 'created' });
    expect(service.requestsFor('order-1')).toHaveLength(1);
  });

  it('reads nothing on such a connection, whose snapshot may be old', async () => {
    const store = mysqlStore(await openForgetful(), { client: unusedClient });
    await expect(store.get('order-1')).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(await store.get('order-1')).toMatchObject({ state: 'created' });
  });

  it('records only in an open transaction', async () => {
    const pool = openPool({ connectionLimit: 2 });
    const store = mysqlStore<PoolConnection>(pool, { client: unusedClient });
    const connection = await pool.getConnection();
    const recording = (tx: unknown) => store.record(order('order-2'), { tx: tx as PoolConnection });
    for (const tx of [undefined, null, pool, connection, 'BEGIN']) {
      await expect(recording(tx)).rejects.toMatchObject({
        option: 'tx',
        message: expect.stringMatching(/^tx (?:is missing|must be)/),
      });
    }
    expect(await store.get('order-2')).toBeUndefined();
    await connection.query('SET autocommit = 0');
    await recording(connection);
    await connection.query('COMMIT');
    expect(await store.get('order-2')).toMatchObject({ state: 'recorded' });
    connection.destroy();
  });

  it('records neighbouring references in concurrent transactions at any isolation level', async () => {
    const store = mysqlStore<PoolConnection>(observer, { client: unusedClient });
    await transaction(async (one) => {
      await store.record(order('neighbour-1'), { tx: one });
      await transaction(async (other) => {
        await store.record(order('neighbour-2'), { tx: other });
        await store.record(order('neighbour-0'), { tx: one });
        await store.record(order('neighbour-3'), { tx: other });
      });
    });
    expect(await store.get('neighbour-3')).toMatchObject({ state: 'recorded' });
  });

  it('does not claim a payment after its sender has given up waiting', async () => {
    const service = new ContractService();
    const { client } = service;
    const store = mysqlStore<PoolConnection>(openPool(), { client, commandTimeoutMs: 2_000 });
    const undone = new Error('the order was not stored');
    const call = transaction(async (tx) => {
      await store.record(order('order-7'), { tx });
      await expect(store.create(order('order-7'))).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
      });
      throw undone;
    });
    await expect(call).rejects.toBe(undone);
    expect(await store.get('order-7')).toBeUndefined();
    expect(await store.create(order('order-7'))).toMatchObject({ state: 'created', attempts: 1 });
    expect(service.requestsFor('order-7')).toHaveLength(1);
  });

  it('says what to do when the server ends the wait', async () => {
    const pool = openPool({}, ['SET SESSION innodb_lock_wait_timeout = 1']);
    const store = mysqlStore<PoolConnection>(pool, { client: unusedClient });
    await transaction(async (tx) => {
      await store.record(order('order-4'), { tx });
      await expect(store.create(order('order-4'))).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        message: expect.stringContaining('recorded the same payment'),
      });
    });
  });

  it('retries a step that a deadlock has rolled back', async () => {
    const service = new ContractService();
    const store = mysqlStore<PoolConnection>(openPool(), { client: service.client });
    // Those who wait for an INSERT that is undone meet a deadlock.
    const created: Promise<unknown>[] = [];
    const recording = transaction(async (tx) => {
      await store.record(order('order-5'), { tx });
      for (let count = 0; count < 4; count += 1) {
        const other = mysqlStore(openPool(), { client: service.client });
        created.push(other.create(order('order-5')));
      }
      await waitForBlocked(4);
      throw new Error('undone');
    });
    await expect(recording).rejects.toThrow('undone');
    for (const payment of await Promise.all(created)) {
      expect(payment).toMatchObject({ state: 'created' });
    }
    expect(service.requestsFor('order-5')).toHaveLength(1);
  });

  it('begins a step anew up to ten times while deadlocks roll it back', async () => {
    const service = new ContractService();
    const pool = openPool({ connectionLimit: 1 });
    const store = mysqlStore(pool, { client: service.client });
    const createAfter = async (deadlocks: number): Promise<unknown> => {
      await pool.query(`SET @deadlocks = ${deadlocks}`);
      return store.create(order('order-13'));
    };
    await query(`CREATE TRIGGER deadlocks BEFORE INSERT ON payment_store_payments FOR EACH ROW
      IF @deadlocks > 0 THEN
        SET @deadlocks = @deadlocks - 1;
        SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'deadlock';
      END IF`);
    try {
      // The first one is that of the statement which claims without a transaction.
      await expect(createAfter(11)).rejects.toMatchObject({
        code: 'STORE_FAILED',
        cause: { errno: 1213 },
      });
      expect((await pool.query('SELECT @deadlocks AS rest'))[0]).toEqual([{ rest: 0 }]);
      expect(service.requestsFor('order-13')).toEqual([]);
      expect(await createAfter(10)).toMatchObject({ state: 'created', attempts: 1 });
      expect(service.requestsFor('order-13')).toHaveLength(1);
    } finally {
      await query('DROP TRIGGER deadlocks');
    }
  });

  it('reports missing tables, and shows nothing of the request', async () => {
    const store = mysqlStore(observer, { client: unusedClient, prefix: 'other_' });
    await expect(store.create(order('order-6'))).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringContaining('setup()'),
      cause: { errno: 1146, message: expect.not.stringContaining('order-6') },
    });
    await store.setup();
    await store.setup();
    expect(await store.get('order-6')).toBeUndefined();
  });

  it('sends nothing over a network that swallows the claim, and recovers afterwards', async () => {
    const proxy = await startSwallowingProxy(inDatabase(process.env['MYSQL_URL'] ?? '', database));
    const pool = openPool({ uri: proxy.url, connectionLimit: 1 });
    const service = new ContractService();
    const { client } = service;
    const store = mysqlStore(pool, { client, commandTimeoutMs: 300, acquireTimeoutMs: 5_000 });
    await store.get('order-7');
    proxy.swallow();
    await expect(store.create(order('order-7'))).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    expect(service.requestsFor('order-7')).toEqual([]);
    proxy.heal();
    expect(await store.create(order('order-7'))).toMatchObject({ state: 'created' });
    // Before the pool ends, which waits for those that were swallowed.
    await proxy.close();
  });

  it('leaves a payment as it is when it is created or recorded again', async () => {
    const service = new ContractService();
    const store = mysqlStore<PoolConnection>(observer, { client: service.client });
    await store.create(order('order-14'));
    const times = () =>
      query(
        "SELECT changed_at_ms FROM payment_store_payments WHERE merchant_payment_reference = 'order-14'",
      );
    await query(
      "UPDATE payment_store_payments SET changed_at_ms = 1000 WHERE merchant_payment_reference = 'order-14'",
    );
    await store.create(order('order-14'));
    await transaction((tx) => store.record(order('order-14'), { tx }));
    expect(await times()).toEqual([{ changed_at_ms: 1000 }]);
  });

  it('does not reuse a connection whose server has become read-only', async () => {
    const service = new ContractService();
    const pool = openPool({ connectionLimit: 1 });
    await query(`CREATE TRIGGER read_only BEFORE INSERT ON payment_store_payments FOR EACH ROW
      IF @is_replica THEN
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'read only';
      END IF`);
    try {
      await pool.query('SET @is_replica = TRUE');
      const store = mysqlStore(pool, { client: service.client });
      await expect(store.create(order('order-10'))).rejects.toMatchObject({
        code: 'STORE_FAILED',
        cause: {
          errno: 1290,
          sqlState: 'HY000',
          code: 'ER_OPTION_PREVENTS_STATEMENT',
          message: 'the server refused with 1290 (ER_OPTION_PREVENTS_STATEMENT)',
        },
      });
      expect(await store.create(order('order-10'))).toMatchObject({ state: 'created' });
    } finally {
      await query('DROP TRIGGER read_only');
    }
  });

  it('creates on a wrapped pool that hides the session status', async () => {
    const service = new ContractService();
    const pool = openPool();
    const wrapped = {
      async getConnection() {
        const connection = await pool.getConnection();
        return {
          async query(sql: string): Promise<[unknown, unknown]> {
            const [given, fields] = await connection.query(sql);
            const { affectedRows } = given as { affectedRows?: number };
            return [Array.isArray(given) ? given : { affectedRows }, fields];
          },
          release: () => connection.release(),
          destroy: () => connection.destroy(),
          on: () => undefined,
          removeListener: () => undefined,
        };
      },
    };
    const store = mysqlStore(wrapped, { client: service.client });
    expect(await store.create(order('order-12'))).toMatchObject({ state: 'created', attempts: 1 });
    expect(service.requestsFor('order-12')).toHaveLength(1);
  });

  it('lists and sends payments that were stored before the clock was set back', async () => {
    await expectToListWhatLiesAhead(
      (client) => mysqlStore(observer, { client }),
      () =>
        query(
          'UPDATE payment_store_payments SET sent_at_ms = sent_at_ms + 3600000, changed_at_ms = changed_at_ms + 3600000',
        ),
    );
  });
});
