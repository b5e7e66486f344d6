import mysql, { type PoolConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { ContractService } from '../contract/store/service.js';
import { order } from '../postgres/change.js';
import { inDatabase } from '../services/mysql-url.js';
import { useDatabase } from './server.js';

/** What a connection of the driver has besides its types. */
interface Core {
  threadId: number;
  readonly stream: { destroy(): void };
  query(...sent: [string | { sql: string }, ...unknown[]]): unknown;
}

describe.skipIf(!process.env['MYSQL_URL'])('a claim of mysqlStore whose sender gave up', () => {
  const database = 'mp_store_given_up';
  const { openPool, observer, query, waitForBlocked, transaction } = useDatabase(database);
  const undone = new Error('the order was not stored');

  /** A pool that shows each connection to a test. */
  const openShown = (show: (core: Core) => void) => {
    const pool = openPool();
    pool.pool.on('connection', (connection) => show(connection as unknown as Core));
    return pool;
  };
  const claims = () =>
    query(
      `SELECT id FROM information_schema.processlist WHERE db = '${database}' AND info LIKE '/*%INSERT%'`,
    );
  const stateOf = async (reference: string) => {
    const sql = 'SELECT state FROM payment_store_payments WHERE merchant_payment_reference = ?';
    const [row] = await query<{ state: string }>(sql, [reference]);
    return row?.state;
  };

  it('is withdrawn when the network cut its connection while it waited', async () => {
    const { client } = new ContractService();
    const cores: Core[] = [];
    const pool = openShown((core) => cores.push(core));
    const store = mysqlStore<PoolConnection>(pool, { client, commandTimeoutMs: 1_000 });
    const call = transaction(async (tx) => {
      await store.record(order('cut'), { tx });
      // Another connection tries once more, and waits in vain.
      const creating = expect(store.create(order('cut'))).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
      });
      await waitForBlocked(1);
      cores[0]?.stream.destroy();
      await creating;
      await expect.poll(claims, { timeout: 5_000 }).toEqual([]);
      throw undone;
    });
    await expect(call).rejects.toBe(undone);
    expect(await stateOf('cut')).toBeUndefined();
  });

  it('is withdrawn when it is granted before it can be cancelled', async () => {
    const { client } = new ContractService();
    let isOver = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const pool = openPool();
    let killing = false;
    let session: unknown;
    const store = mysqlStore<PoolConnection>(
      {
        async getConnection() {
          const connection = await pool.getConnection();
          const core = connection.connection as unknown as Core;
          // As if a busy pool returned its connection late.
          if (killing) await over;
          killing = false;
          const send = core.query.bind(core);
          core.query = (...sent) => {
            if (JSON.stringify(sent[0]).includes('processlist')) killing = true;
            return send(...sent);
          };
          return connection;
        },
      },
      { client, commandTimeoutMs: 300 },
    );
    const call = transaction(async (tx) => {
      await store.record(order('granted'), { tx });
      await expect(store.create(order('granted'))).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
      });
      await expect.poll(() => killing).toBe(true);
      session = (await claims())[0]?.['id'];
      // The withdrawal of the claim, which the store runs in the background, waits in vain.
      await new Promise((resolve) => setTimeout(resolve, 600));
      throw undone;
    });
    await expect(call).rejects.toBe(undone);
    await expect.poll(() => stateOf('granted')).toBe('sending');
    const sessions = 'SELECT id FROM information_schema.processlist WHERE id = ?';
    await expect.poll(() => query(sessions, [session])).toEqual([]);
    isOver();
    await expect.poll(() => stateOf('granted')).toBe('recorded');
  });

  it('kills no session behind a proxy, whose ids differ from those of the server', async () => {
    const { client } = new ContractService();
    const sent: string[] = [];
    const pool = openShown((core) => {
      core.threadId += 1_000_000;
      const send = core.query.bind(core);
      core.query = (...args) => {
        sent.push(typeof args[0] === 'string' ? args[0] : args[0].sql);
        return send(...args);
      };
    });
    const store = mysqlStore<PoolConnection>(pool, { client, commandTimeoutMs: 200 });
    await transaction(async (tx) => {
      await mysqlStore<PoolConnection>(observer, { client }).record(order('proxied'), { tx });
      await expect(store.create(order('proxied'))).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
      });
      const looked = () => sent.findIndex((sql) => sql.includes('processlist'));
      await expect.poll(looked).toBeGreaterThan(-1);
      // What comes behind the look.
      await expect.poll(() => sent.slice(looked() + 1).join()).toMatch(/KILL|FOR UPDATE/);
    });
    expect(sent.filter((sql) => sql.startsWith('KILL'))).toEqual([]);
  });

  it('is not withdrawn when the pool returned no connection for it', async () => {
    const { client } = new ContractService();
    let asked = 0;
    const none = {
      getConnection(): Promise<PoolConnection> {
        asked += 1;
        return Promise.reject(new Error('no connection'));
      },
    };
    await expect(mysqlStore(none, { client }).create(order('none'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    // For the claim, and once more, as the connection may have been dead.
    expect(asked).toBe(2);
  });

  it('is withdrawn by a user who sees only their own sessions', async () => {
    const user = 'mp_store_given_up';
    await query(`DROP USER IF EXISTS ${user}@'%'`);
    await query(`CREATE USER ${user}@'%' IDENTIFIED BY 'password'`);
    try {
      await query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.* TO ${user}@'%'`);
      const uri = new URL(inDatabase(process.env['MYSQL_URL'] ?? '', database));
      uri.username = user;
      uri.password = 'password';
      const pool = mysql.createPool(uri.href);
      const { client } = new ContractService();
      const store = mysqlStore<PoolConnection>(pool, { client, commandTimeoutMs: 200 });
      const call = transaction(async (tx) => {
        await store.record(order('own'), { tx });
        await expect(store.create(order('own'))).rejects.toMatchObject({
          code: 'STORE_TIMEOUT',
        });
        await expect.poll(claims, { timeout: 5_000 }).toEqual([]);
        throw undone;
      });
      await expect(call).rejects.toBe(undone);
      expect(await stateOf('own')).toBeUndefined();
      await pool.end();
    } finally {
      await query(`DROP USER ${user}@'%'`);
    }
  });
});
