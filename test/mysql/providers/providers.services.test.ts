import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { mysqlStore } from '../../../src/mysql/mysql-store.js';
import { change, nothing, order } from '../../postgres/change.js';
import { inDatabase } from '../../services/mysql-url.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { describeProvider, useProvider } from '../../store/sql/provider-cases.js';
import { unusedClient } from '../../store/unused-client.js';
import { killIdleTransaction, useDatabase } from '../server.js';
import { providers } from './providers.js';

const uri = process.env['MYSQL_URL'];
const database = 'mp_store_providers';
const { observer, query } = useDatabase(database);
const url = inDatabase(uri ?? 'mysql://127.0.0.1', database);

describe.skipIf(!uri).each(Object.entries(providers))('a store on %s', (_, open) => {
  beforeAll(async () => {
    await query('DELETE FROM orders');
    await query('DELETE FROM payment_store_changes');
    await query('DELETE FROM payment_store_payments');
  });
  const scene = useProvider({
    open: (options) => open(url, options),
    makeStore: (provider, options) => mysqlStore(provider, options),
    makePayments: (provider) => mysqlStore(provider, { client: unusedClient }),
    query,
    loseConnection: () => killIdleTransaction(observer, database),
    endsConnection: 'KILL CONNECTION_ID()',
    endings: ['COMMIT', 'ROLLBACK', 'CREATE TABLE side_effect (id int)'],
  });
  const { opened, openOther, written, isRecorded, deliver } = scene;
  describeProvider(scene);
  afterEach(() => query('DROP TABLE IF EXISTS side_effect'));

  it('is at READ COMMITTED', async () => {
    const seen: number[] = [];
    await deliver('sees', async (_db, { tx }) => {
      const look = async () => {
        const given = await opened().provider.query(
          tx,
          "SELECT 1 FROM orders WHERE status = 'seen'",
        );
        seen.push(given.length);
      };
      await look();
      await query("INSERT INTO orders VALUES ('seen', 'seen')");
      await look();
    });
    expect(seen).toEqual([0, 1]);
  });

  it('refuses to record in a transaction that the server has rolled back after a deadlock', async () => {
    const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };
    const recording = opened().provider.transaction(async (tx) => {
      // Which the ORM does not notice.
      await opened().send(tx, 'ROLLBACK');
      await scene.payments().record(order('undone'), { tx });
    }, limits);
    await expect(recording).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    expect(await scene.payments().get('undone')).toBeUndefined();
  });

  it('leaves the settings of the session as they were', async () => {
    const one = await openOther({ max: 1 });
    const settings = async () =>
      Object.values(
        (
          await one.provider.query(
            one.provider.database,
            'SELECT CONCAT(@@wait_timeout, @@lock_wait_timeout)',
          )
        )[0] ?? {},
      );
    const before = await settings();
    const alone = mysqlStore(one.provider);
    await outcomeOf(alone, change('settings'), nothing).catch(() => undefined);
    await alone
      .process(change('settings', 1), async () => {
        throw new Error('out of stock');
      })
      .catch(() => undefined);
    expect(await settings()).toEqual(before);
  });

  it('never processes work that continues after a deadlock', async () => {
    await query("INSERT INTO orders VALUES ('one', 'row'), ('other', 'row')");
    const other = await observer.getConnection();
    const touch = (reference: string) =>
      `UPDATE orders SET status = CONCAT(status, '+') WHERE reference = '${reference}'`;
    try {
      await other.query('START TRANSACTION');
      // The heavier transaction is not the one that is rolled back.
      for (let row = 0; row < 50; row += 1) {
        await other.query("INSERT INTO orders VALUES ('weight', ?)", [String(row)]);
      }
      await other.query(touch('one'));
      const running = deliver('deadlock', async (db, { tx }) => {
        await db.insert('deadlock', 'paid');
        await opened().send(tx, touch('other'));
        const waiting = other.query(touch('other'));
        await expect(opened().send(tx, touch('one'))).rejects.toThrow();
        await waiting;
        await other.query('ROLLBACK');
      });
      await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    } finally {
      await other.query('ROLLBACK');
      other.release();
    }
    expect(await written('deadlock')).toEqual([]);
    expect(await isRecorded('deadlock')).toBe(false);
    expect(await deliver('deadlock', (db) => db.insert('deadlock', 'again'))).toBe('processed');
  });
});

// TypeORM connects before there is a store, and Prisma's driver retries for 10 s and then tells of its pool.
const lazy = Object.entries(providers).filter(([name]) => !/TypeORM|Prisma/.test(name));

describe.each(lazy)('%s without a server', (_, open) => {
  it.each([
    ['127.0.0.1:1', '127.0.0.1:1'],
    ['database.invalid:3000', 'database.invalid'],
  ])('says that %s was not reached, and that nothing was done', async (host, named) => {
    const { provider, close } = await open(`mysql://root@${host}/test`);
    onTestFinished(() => void close());
    const store = mysqlStore(provider);
    await expect(store.setup()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('provided no connection, so nothing was done'),
      cause: { message: expect.stringContaining(named) },
    });
  });
});
