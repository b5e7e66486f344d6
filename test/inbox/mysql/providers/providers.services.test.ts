import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { InboxContext } from '../../../../src/inbox/inbox.js';
import { type MysqlInbox, mysqlInbox } from '../../../../src/inbox/mysql/mysql-inbox.js';
import { inDatabase } from '../../../services/mysql-url.js';
import type { OrmTransaction } from '../../postgres/orms/orms.js';
import { change, heldWork, nothing } from '../../postgres/payment-change.js';
import type { OpenProvider, ProviderOptions } from '../../postgres/providers/providers.js';
import { killIdleTransaction, useDatabase } from '../server.js';
import { providers } from './providers.js';

const uri = process.env['MYSQL_URL'];
const database = 'mp_inbox_providers';
const { observer, query } = useDatabase(database);
const url = inDatabase(uri ?? 'mysql://127.0.0.1', database);

describe.skipIf(!uri).each(Object.entries(providers))('an inbox on %s', (_, open) => {
  const closing: (() => Promise<unknown>)[] = [];
  let opened: OpenProvider;
  let inbox: MysqlInbox<unknown>;

  const openOther = async (options?: ProviderOptions): Promise<OpenProvider> => {
    const other = await open(url, options);
    closing.push(() => other.close());
    return other;
  };
  beforeAll(async () => {
    await query('DELETE FROM orders');
    await query('DELETE FROM payment_inbox_events');
    opened = await open(url);
    inbox = mysqlInbox(opened.provider);
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  afterAll(() => opened.close());

  const written = async (reference: string) => {
    const rows = await query<{ status: string }>(
      'SELECT status FROM orders WHERE reference = ? ORDER BY 1',
      [reference],
    );
    return rows.map(({ status }) => status);
  };
  const isRecorded = async (reference: string) =>
    (await query('SELECT 1 FROM payment_inbox_events WHERE payment_reference = ?', [reference]))
      .length === 1;
  type Work = (db: OrmTransaction, context: InboxContext<unknown>) => Promise<unknown>;
  const deliver = (reference: string, work: Work, one = inbox) =>
    one.process(change(reference), async (context) => {
      await work(opened.on(context.tx), context);
    });

  it('writes with the record, once', async () => {
    const work: Work = (db) => db.insert('once', 'paid');
    expect(await deliver('once', work)).toBe('processed');
    expect(await deliver('once', work)).toBe('duplicate');
    expect(await written('once')).toEqual(['paid']);
  });

  it('rolls back its write and ours when the work throws', async () => {
    const outOfStock = new Error('out of stock');
    const work: Work = async (db) => {
      await db.insert('thrown', 'paid');
      throw outOfStock;
    };
    await expect(deliver('thrown', work)).rejects.toBe(outOfStock);
    expect(await written('thrown')).toEqual([]);
    expect(await deliver('thrown', (db) => db.insert('thrown', 'again'))).toBe('processed');
    expect(await written('thrown')).toEqual(['again']);
  });

  it('is at READ COMMITTED', async () => {
    await deliver('isolation', async (db) => {
      await db.insert('isolation', 'before');
      const [found] = await query<{ level: string }>(
        `SELECT trx_isolation_level AS level FROM information_schema.innodb_trx
         JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE db = ?`,
        [database],
      );
      // The server takes a look at its transactions no sooner than 100 ms after the last.
      if (found !== undefined) expect(found.level).toBe('READ COMMITTED');
    });
    const seen: number[] = [];
    await deliver('sees', async (_db, { tx }) => {
      const look = async () => {
        const given = await opened.provider.query(tx, "SELECT 1 FROM orders WHERE status = 'seen'");
        seen.push(given.length);
      };
      await look();
      await query("INSERT INTO orders VALUES ('seen', 'seen')");
      await look();
    });
    expect(seen).toEqual([0, 1]);
  });

  it.each([
    ['throws', async () => Promise.reject(new Error('out of stock'))],
    ['meets an error of the database', (db: OrmTransaction) => db.fail()],
  ])(
    'undoes its write when it %s and is parked, with others waiting for it',
    async (name, fail) => {
      const reference = `parked-${name}`;
      const failures = { parkAfter: 1, blockParked: true };
      const event = change(reference, 0, { failures });
      const failing = inbox.process(event, async ({ tx }) => {
        await opened.on(tx).insert(reference, 'paid');
        await fail(opened.on(tx));
      });
      await expect(failing).rejects.toThrow();
      expect(await written(reference)).toEqual([]);
      expect(await isRecorded(reference)).toBe(false);
      const listed: unknown[] = [];
      for await (const one of inbox.failedChanges({ paymentReference: event.paymentReference })) {
        listed.push(one);
      }
      expect(listed).toMatchObject([{ attempts: 1, parked: true }]);
    },
  );

  it('takes references of any characters', async () => {
    const reference = `a?b\\?'c":d $1 %s \\`;
    expect(await inbox.process(change(reference), nothing)).toBe('processed');
    expect(await inbox.process(change(reference), nothing)).toBe('duplicate');
    const plain = "?'?:x??";
    expect(await inbox.process(change(plain), nothing)).toBe('processed');
    expect(await isRecorded(plain)).toBe(true);
    expect(await inbox.prune(new Date(0))).toBe(0);
  });

  it('makes its tables, and prunes them', async () => {
    const prefix = 'own_';
    const own = mysqlInbox(opened.provider, { prefix });
    await own.setup();
    await own.setup();
    expect(await own.process(change('old'), nothing)).toBe('processed');
    expect(await own.prune(new Date(Date.now() + 60_000))).toBe(1);
    expect(await query('SELECT 1 FROM own_events')).toEqual([]);
    await query('DROP TABLE own_events, own_locks');
    await query('DROP PROCEDURE own_claim_v1');
    await query('DROP PROCEDURE own_record_v1');
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
    const alone = mysqlInbox(one.provider);
    await alone.process(change('settings'), nothing).catch(() => undefined);
    await alone
      .process(change('settings', 1), async () => {
        throw new Error('out of stock');
      })
      .catch(() => undefined);
    expect(await settings()).toEqual(before);
  });

  it('keeps the rest when a nested transaction fails', async () => {
    const outcome = await deliver('nested', async (db) => {
      await db.insert('nested', 'before');
      const failing = db.nested(async (inner) => {
        await inner.insert('nested', 'undone');
        await inner.fail();
      });
      await expect(failing).rejects.toThrow();
      await db.nested(async (inner) => {
        await inner.insert('nested', 'inner');
      });
      await db.insert('nested', 'then');
    });
    expect(outcome).toBe('processed');
    expect(await written('nested')).toEqual(['before', 'inner', 'then']);
    expect(await isRecorded('nested')).toBe(true);
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
        await opened.send(tx, touch('other'));
        const waiting = other.query(touch('other'));
        await expect(opened.send(tx, touch('one'))).rejects.toThrow();
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

  it.each(['COMMIT', 'ROLLBACK', 'CREATE TABLE side_effect (id int)'])(
    'never processes work that sends %s',
    async (end) => {
      const reference = `ended-by-${end.slice(0, 6)}`;
      const running = deliver(reference, (_db, { tx }) => opened.send(tx, end));
      await expect(running).rejects.toMatchObject({
        code: 'TRANSACTION_LOST',
        message: expect.stringContaining('ended the transaction'),
      });
      expect(await isRecorded(reference)).toBe(false);
      await query('DROP TABLE IF EXISTS side_effect');
    },
  );

  it('fails when the transaction is undone just before its COMMIT', async () => {
    // As a query does that the work has not awaited, and that meets a deadlock.
    const { provider } = opened;
    const undoing = Object.create(provider, {
      transaction: {
        value: (body: (tx: unknown) => Promise<void>, limits: never) =>
          provider.transaction(async (tx) => {
            await body(tx);
            await provider.query(tx, 'ROLLBACK');
          }, limits),
      },
    }) as typeof provider;
    const running = mysqlInbox(undoing).process(change('undone'), async ({ tx }) => {
      await opened.on(tx).insert('undone', 'paid');
    });
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(await isRecorded('undone')).toBe(false);
    expect(await inbox.process(change('undone'), nothing)).toBe('processed');
  });

  it('records nothing when the transaction is undone between two statements of the record', async () => {
    const { provider } = opened;
    const undoing = Object.create(provider, {
      query: {
        value: async (on: object, text: string) => {
          if (text.startsWith('INSERT INTO `')) await provider.query(on, 'ROLLBACK');
          return provider.query(on, text);
        },
      },
    }) as typeof provider;
    const running = mysqlInbox(undoing).process(change('between'), nothing);
    await expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(await isRecorded('between')).toBe(false);
  });

  it('fails at once when the connection is lost, aborts the signal, and works again', async () => {
    const held = heldWork<unknown>();
    const running = inbox.process(change('lost'), held.work);
    const lost = expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    const { signal } = await held.started;
    await killIdleTransaction(observer, database);
    await lost;
    expect(signal.reason).toMatchObject({ code: 'TRANSACTION_LOST' });
    held.finish();
    expect(await inbox.process(change('lost'), nothing)).toBe('processed');
  });

  it('fails when the connection is lost under a statement of the work', async () => {
    const running = deliver('cut', (_db, { tx }) => opened.send(tx, 'KILL CONNECTION_ID()'));
    await expect(running).rejects.toThrow();
    expect(await isRecorded('cut')).toBe(false);
    expect(await inbox.process(change('cut'), nothing)).toBe('processed');
  });

  it('fails in time when the work hangs, aborts the signal, and ends the session', async () => {
    const impatient = mysqlInbox(opened.provider, { transactionTimeoutMs: 400 });
    const held = heldWork<unknown>();
    const running = impatient.process(change('hanging'), held.work);
    const { signal } = await held.started;
    await expect(running).rejects.toMatchObject({
      code: 'INBOX_TIMEOUT',
      message: expect.stringContaining('transactionTimeoutMs'),
    });
    expect(signal.reason).toMatchObject({ code: 'INBOX_TIMEOUT' });
    // The payment is free while the work hangs on.
    expect(await inbox.process(change('hanging', 1), nothing)).toBe('processed');
    held.finish();
  });

  it('gives up waiting for a connection, and then does nothing with it', async () => {
    const other = await openOther({ max: 1 });
    // Opened before the time is taken.
    await other.provider.query(other.provider.database, 'SELECT 1');
    const one = mysqlInbox(other.provider, { acquireTimeoutMs: 400 });
    const held = heldWork<unknown>();
    const first = one.process(change('holds'), held.work).catch((error: unknown) => error);
    await held.started;
    let runs = 0;
    const late = one.process(change('waits'), async () => {
      runs += 1;
    });
    await expect(late).rejects.toMatchObject({ code: expect.stringMatching(/INBOX_TIMEOUT|P20/) });
    held.finish();
    expect(await first).toBe('processed');
    expect(await one.process(change('after'), nothing)).toBe('processed');
    expect(runs).toBe(0);
    expect(await isRecorded('waits')).toBe(false);
  });
});
