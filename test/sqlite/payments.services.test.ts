import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PaymentClient } from '../../../src/client/payment-client.js';
import { sqliteInbox } from '../../../src/sqlite/inbox-sqlite-inbox.js';
import { sqliteOutbox } from '../../../src/sqlite/outbox-sqlite-outbox.js';
import { readValue, type SqliteDatabase } from '../../../src/sqlite/database.js';
import { drivers, type OpenDatabase } from '../../inbox/sqlite/open-database.js';
import { expectToListWhatLiesAhead } from '../clock-set-back.js';
import { order } from '../settling-scene.js';
import { unusedClient } from '../unused-client.js';

describe.each(drivers)('sqliteOutbox with $name', ({ open }) => {
  let folder: string;
  let database: OpenDatabase;
  const others: OpenDatabase[] = [];
  // Another connection is what another process has.
  const openOther = () => {
    const other = open(join(folder, 'shop.db'));
    others.push(other);
    return other;
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'test-outbox-'));
    database = open(join(folder, 'shop.db'));
    sqliteOutbox(database, { client: unusedClient }).setup();
    database.exec('CREATE TABLE orders (reference TEXT PRIMARY KEY)');
  });
  afterAll(() => {
    for (const one of [database, ...others]) one.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('records in a transaction of the same connection, and is rolled back with it', async () => {
    const outbox = sqliteOutbox(database, { client: unusedClient });
    const begin = (reference: string) => {
      database.exec('BEGIN');
      database.exec(`INSERT INTO orders VALUES ('${reference}')`);
    };
    begin('order-1');
    outbox.recordNow(order('order-1'));
    expect(() => outbox.recordNow({ ...order('order-1'), amount: 1 })).toThrow(
      expect.objectContaining({ code: 'REFERENCE_CONFLICT' }),
    );
    database.exec('ROLLBACK');
    expect(await outbox.get('order-1')).toBeUndefined();
    begin('order-1');
    await outbox.record(order('order-1'), { tx: database });
    database.exec('COMMIT');
    expect(await outbox.get('order-1')).toMatchObject({ state: 'recorded' });
  });

  it('has a claim on disk before it sends', async () => {
    const connection = openOther();
    const levels: unknown[] = [];
    const client = new PaymentClient({
      baseUrl: 'http://127.0.0.1:9',
      apiKey: 'key',
      apiSecret: 'secret',
      maxRetries: 0,
      async fetch() {
        levels.push(Number(readValue(connection.prepare('PRAGMA synchronous').get())));
        return Response.json({}, { status: 422 });
      },
    });
    const outbox = sqliteOutbox(connection, { client });
    for (const reference of ['order-durable-1', 'order-durable-2']) {
      await expect(outbox.create(order(reference))).rejects.toMatchObject({ httpStatus: 422 });
    }
    expect(levels).toEqual([2, 2]);
  });

  it('refuses a tx of another connection, and a connection without a transaction', async ({
    skip,
  }) => {
    const outbox = sqliteOutbox(database, { client: unusedClient });
    const refused = (received: string) => ({
      option: 'tx',
      message: `tx must be the database that the outbox was made from, with your transaction open on it; received ${received}`,
    });
    await expect(outbox.record(order('order-2'), { tx: openOther() })).rejects.toMatchObject(
      refused('something else'),
    );
    skip(
      database.inTransaction === undefined && database.isTransaction === undefined,
      'this driver does not tell whether a transaction is open',
    );
    const open = refused('that database without a transaction');
    await expect(outbox.record(order('order-2'), { tx: database })).rejects.toMatchObject(open);
    expect(() => outbox.recordNow(order('order-2'))).toThrow(
      'database must have your transaction open when recordNow is called; received one without',
    );
    expect(await outbox.get('order-2')).toBeUndefined();
  });

  it('waits for an open transaction on the connection, and for another connection that locks the file', async () => {
    const outbox = sqliteOutbox(database, { client: unusedClient });
    for (const blocking of [database, openOther()]) {
      const reference = `order-3-${others.length}-${blocking === database}`;
      blocking.exec('BEGIN IMMEDIATE');
      let done = false;
      const recording = outbox.record(order(reference), { tx: undefined }).then(() => {
        done = true;
      });
      await new Promise(setImmediate);
      expect(done).toBe(false);
      blocking.exec('ROLLBACK');
      await recording;
      expect(await outbox.get(reference)).toMatchObject({ state: 'recorded' });
    }
  });

  it('sends nothing before the claim is committed, which another reader may prevent', async () => {
    const [reader, observer] = [openOther(), openOther()];
    const state = (reference: string) => {
      const sql = 'SELECT state FROM payment_outbox_payments WHERE reference = ?';
      return readValue(observer.prepare(sql).get(reference));
    };
    let stateWhenSent: unknown;
    await using client = new PaymentClient({
      baseUrl: 'http://127.0.0.1:9',
      apiKey: 'key',
      apiSecret: 'secret',
      fetch: async () => {
        stateWhenSent = state('order-5');
        return Response.json({ referenceNumber: 'PAY-5' }, { status: 201 });
      },
    });
    reader.exec('BEGIN');
    reader.prepare('SELECT reference FROM payment_outbox_payments').get();
    const creating = sqliteOutbox(database, { client }).create(order('order-5'));
    await new Promise(setImmediate);
    reader.exec('COMMIT');
    await creating;
    expect(stateWhenSent).toBe('sending');
    expect(state('order-5')).toBe('created');
  });

  it('does not resolve when it could not commit a record or a settlement', async () => {
    const outbox = sqliteOutbox(database, { client: unusedClient });
    const reader = openOther();
    reader.exec('BEGIN');
    reader.prepare('SELECT reference FROM payment_outbox_payments').get();
    // No transaction is open, so each statement is one.
    const error = await outbox.record(order('order-6'), { tx: database }).catch((thrown) => thrown);
    reader.exec('COMMIT');
    const stored = await outbox.get('order-6');
    expect(stored === undefined).toBe(error !== undefined);
  });

  it('says what to do when its tables are missing', async () => {
    const outbox = sqliteOutbox(database, { client: unusedClient, prefix: 'other_' });
    await expect(outbox.get('order-4')).rejects.toMatchObject({
      code: 'MISSING_TABLES',
      message: expect.stringContaining('setup()'),
      cause: expect.objectContaining({ message: expect.stringContaining('no such table') }),
    });
  });

  it('settles in a transaction of the same connection, and is rolled back with it', async () => {
    const outbox = sqliteOutbox(database, { client: unusedClient });
    await outbox.record(order('order-settled'), { tx: undefined });
    const found = { merchantPaymentReference: 'order-settled', referenceNumber: 'PAY-1' };
    database.exec('BEGIN');
    expect(await outbox.settle(found as never, { tx: database })).toBe('settled');
    database.exec('ROLLBACK');
    expect(await outbox.get('order-settled')).toMatchObject({ state: 'recorded' });
  });

  it('does not read inside an open transaction on the connection', async () => {
    const outbox = sqliteOutbox(database, { client: unusedClient });
    database.exec('BEGIN');
    outbox.recordNow(order('order-open'));
    const reading = outbox.get('order-open');
    database.exec('ROLLBACK');
    expect(await reading).toBeUndefined();
  });

  it.each([
    ['another connection had the file locked', () => openOther()],
    ['a transaction or an iterate() was open on the connection', () => database],
  ])('gives up after five seconds in which %s', async (blocked, open) => {
    const outbox = sqliteOutbox(database, { client: unusedClient });
    const blocking = open();
    blocking.exec('BEGIN IMMEDIATE');
    const recording = outbox.record(order('order-blocked'), { tx: undefined });
    const later = performance.now() + 5_000;
    const now = vi.spyOn(performance, 'now').mockReturnValue(later);
    const error = (await recording.catch((thrown) => thrown)) as Error;
    now.mockRestore();
    blocking.exec('ROLLBACK');
    expect(error).toMatchObject({
      code: 'STORE_TIMEOUT',
      message: `A step of the outbox could not run within 5000 ms, because ${blocked}. Keep transactions short, and keep no transaction or iterate() open across an await`,
    });
    const cause = blocking === database ? undefined : 'database is locked';
    expect((error.cause as Error | undefined)?.message).toBe(cause);
    expect(await outbox.get('order-blocked')).toBeUndefined();
  });

  it('deletes thousands of payments, in several steps', async () => {
    const outbox = sqliteOutbox(database, { client: unusedClient, prefix: 'old_' });
    outbox.setup();
    database.exec(`WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 2000)
      INSERT INTO old_payments (reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
      SELECT 'old-' || n, '{}', '', 'created', 1, 1, 1 FROM counted`);
    expect(await outbox.prune(new Date(2))).toBe(2_000);
  });

  it.each([
    ['rows without text', (rows: unknown[]) => rows.map(() => ({ value: 1 }))],
    ['a promise', (rows: unknown[]) => Promise.resolve(rows)],
  ])('refuses a database that answers with %s', async (_, change) => {
    const other = openOther();
    const changing = {
      exec: (sql: string) => other.exec(sql),
      prepare(sql: string) {
        const statement = other.prepare(sql);
        const run = (...values: never[]) => statement.run(...values);
        const all = (...values: never[]) => change(statement.all(...values));
        return sql.startsWith('PRAGMA') ? statement : { run, all };
      },
    };
    const outbox = sqliteOutbox(changing as unknown as SqliteDatabase, { client: unusedClient });
    await expect(outbox.create(order('order-odd'))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'database',
      message:
        'database must answer a query with its rows at once; received something else: use a DatabaseSync of node:sqlite or a Database of better-sqlite3',
    });
  });

  it('explains when its tables are those of an inbox with the same prefix', () => {
    sqliteInbox(database, { prefix: 'shop_' }).setup();
    const outbox = sqliteOutbox(database, { client: unusedClient, prefix: 'shop_' });
    const recordNow = () => {
      database.exec('BEGIN');
      try {
        outbox.recordNow(order('order-7'));
      } finally {
        database.exec('ROLLBACK');
      }
    };
    for (const step of [() => outbox.setup(), recordNow]) {
      expect(step).toThrow(
        expect.objectContaining({
          code: 'MISSING_TABLES',
          message: expect.stringContaining('an inbox with the same prefix'),
        }),
      );
    }
  });

  it('throws no error of the driver', async () => {
    const other = openOther();
    const outbox = sqliteOutbox(other, { client: unusedClient });
    other.exec('PRAGMA query_only = 1');
    const failed = {
      code: 'STORE_FAILED',
      message: expect.stringMatching(/^SQLite failed during a step of the outbox/),
      cause: expect.objectContaining({ message: expect.stringContaining('readonly') }),
    };
    const input = order('order-8');
    await expect(outbox.create(input)).rejects.toMatchObject(failed);
    other.exec('BEGIN');
    await expect(outbox.record(input, { tx: other })).rejects.toMatchObject(failed);
    expect(() => outbox.recordNow(input)).toThrow(expect.objectContaining(failed));
    other.exec('ROLLBACK');
    const empty = sqliteOutbox(other, { client: unusedClient, prefix: 'none_' });
    expect(() => empty.setup()).toThrow(expect.objectContaining(failed));
  });

  it('lists and sends payments that were stored before the clock was set back', async () => {
    let nowMs = 7_200_000;
    await expectToListWhatLiesAhead(
      (client) => sqliteOutbox(database, { client, now: () => nowMs }),
      () => {
        nowMs = 3_600_000;
      },
    );
  });
});
