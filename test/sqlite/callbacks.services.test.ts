import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FailurePolicy } from '../../../src/store/failed-changes.js';
import type { InboxEvent } from '../../../src/store/inbox.js';
import { type SqliteInbox, sqliteInbox } from '../../../src/sqlite/inbox-sqlite-inbox.js';
import { deliver, hold } from '../held-delivery.js';
import { drivers, type OpenDatabase } from './open-database.js';

const LEASE_MS = 30_000;

function eventAt(occurredAt: string, more: Partial<InboxEvent> = {}): InboxEvent {
  return {
    key: `key-${occurredAt}-${more.microseconds ?? 0}`,
    paymentReference: 'payment-1',
    occurredAt: new Date(occurredAt),
    processStale: false,
    ...more,
  };
}

const first = eventAt('2026-01-31T12:00:00Z');
const second = eventAt('2026-01-31T12:00:01Z');

describe.each(drivers)('with $name', ({ open }) => {
  let folder: string;
  let opened: OpenDatabase[];
  let nowMs: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sqlite-inbox-'));
    opened = [];
    nowMs = 1_769_860_800_000;
  });

  afterEach(() => {
    vi.restoreAllMocks();
    for (const database of opened) database.close();
    rmSync(folder, { recursive: true });
  });

  /** Another connection to the same file, as another process has. */
  function connect(): OpenDatabase {
    const database = open(join(folder, 'inbox.db'));
    opened.push(database);
    return database;
  }

  function openInbox({ database = connect(), leaseMs = LEASE_MS } = {}) {
    const inbox = sqliteInbox(database, { leaseMs, now: () => nowMs });
    inbox.setup();
    return { database, inbox };
  }

  /** Simulates that the two seconds have passed for which a failure waits for the file. */
  function endPatience(): void {
    const later = performance.now() + 2_000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
  }

  function readAll(database: OpenDatabase, sql: string): unknown[] {
    const row = database.prepare(sql).get();
    return row === undefined ? [] : Object.values(row as object);
  }

  function countPayments(database: OpenDatabase): number {
    return Number(readAll(database, 'SELECT count(*) FROM payment_inbox_payments')[0]);
  }

  // What a power cut would undo can't be tried here; SQLite's documentation says it of each level.
  describe('a power cut', () => {
    const levelOf = (database: OpenDatabase) => Number(readAll(database, 'PRAGMA synchronous')[0]);

    test('undoes no commit: each is on disk before the step returns', async () => {
      const { database, inbox } = openInbox();
      const seen: number[] = [];
      const work = async () => void seen.push(levelOf(database));
      await inbox.process(first, work);
      await inbox.process(second, work);
      expect([...seen, levelOf(database)]).toEqual([2, 2, 2]);
    });

    test('undoes none of a connection that is in use already', async () => {
      await deliver(openInbox().inbox, first);
      const database = connect();
      countPayments(database);
      database.exec('CREATE TABLE orders (reference TEXT)');
      await deliver(openInbox({ database }).inbox, second);
      expect(levelOf(database)).toBe(2);
    });

    test('undoes none of a connection whose first write it is', async () => {
      openInbox();
      const database = connect();
      await deliver(sqliteInbox(database, { now: () => nowMs }), first);
      expect(levelOf(database)).toBe(2);
    });

    test.each([
      ['OFF', 0],
      ['EXTRA', 3],
    ])('finds %s as it was set', async (level, expected) => {
      const { database, inbox } = openInbox();
      database.exec(`PRAGMA synchronous = ${level}`);
      await deliver(inbox, first);
      expect(levelOf(database)).toBe(expected);
    });
  });

  describe('the tables', () => {
    test('are named in the error when setup was not called', async () => {
      const inbox = sqliteInbox(connect());
      await expect(deliver(inbox, first)).rejects.toMatchObject({
        code: 'MISSING_TABLES',
        message: expect.stringMatching(
          /"payment_inbox_events", "payment_inbox_failures"\) is missing; call setup\(\)/,
        ),
        cause: expect.objectContaining({ message: expect.stringContaining('no such table') }),
      });
      expect(() => inbox.prune(new Date())).toThrow('call setup()');
    });

    test('that can not be written have a step fail with an error of the package', async () => {
      const { inbox, database } = openInbox();
      database.exec('PRAGMA query_only = 1');
      const failed = {
        code: 'STORE_FAILED',
        message: expect.stringMatching(/^SQLite failed during a step of the inbox/),
        cause: expect.objectContaining({ message: expect.stringContaining('readonly') }),
      };
      const unmade = sqliteInbox(database, { prefix: 'none_' });
      for (const step of [() => unmade.setup(), () => inbox.prune(new Date())]) {
        expect(step).toThrow(expect.objectContaining(failed));
      }
      const change = { key: 'k', paymentReference: 'p' };
      await expect(inbox.discard(change)).rejects.toMatchObject(failed);
    });

    test('are not reported as missing after another error', async () => {
      const { inbox, database } = openInbox();
      for (const table of ['payment_inbox_payments', 'payment_inbox_events']) {
        database.exec(`DROP TABLE ${table}; CREATE TABLE ${table} (other)`);
      }
      await expect(deliver(inbox, first)).rejects.toMatchObject({
        code: 'STORE_FAILED',
        cause: { message: expect.stringMatching(/no such column|no column named/) },
      });
    });

    test('are used as soon as setup was called, also after a callback had failed for it', async () => {
      const inbox = sqliteInbox(connect());
      await expect(deliver(inbox, first)).rejects.toThrow('call setup()');
      inbox.setup();
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('outlive the process, and setup keeps what is in them', async () => {
      const { inbox, database } = openInbox();
      expect(await deliver(inbox, first)).toBe('processed');
      database.close();
      opened.pop();
      expect(await deliver(openInbox().inbox, first)).toBe('duplicate');
    });

    test('are made when another connection has the file locked for a moment', async () => {
      const database = connect();
      const writer = connect();
      const exec = database.exec.bind(database);
      const locks: unknown[] = [];
      vi.spyOn(database, 'exec').mockImplementationOnce((sql) => {
        writer.exec('BEGIN IMMEDIATE; CREATE TABLE other (id)');
        try {
          return exec(sql);
        } catch (error) {
          locks.push(error);
          throw error;
        } finally {
          writer.exec('COMMIT');
        }
      });
      const { inbox } = openInbox({ database });
      expect(locks).toMatchObject([{ message: 'database is locked' }]);
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('are not waited for when the file stays locked', () => {
      const database = connect();
      connect().exec('BEGIN IMMEDIATE; CREATE TABLE other (id)');
      const exec = vi.spyOn(database, 'exec');
      const now = vi.spyOn(performance, 'now');
      for (const ms of [0, 4_999, 5_000]) now.mockReturnValueOnce(ms);
      expect(() => sqliteInbox(database).setup()).toThrow(
        expect.objectContaining({
          code: 'STORE_FAILED',
          cause: expect.objectContaining({ message: 'database is locked' }),
        }),
      );
      expect(exec).toHaveBeenCalledTimes(2);
    });

    test('have the names of prefix', async () => {
      const database = connect();
      const shop = sqliteInbox(database, { prefix: 'Shop_' });
      shop.setup();
      expect(await deliver(shop, first)).toBe('processed');
      expect(await deliver(openInbox({ database }).inbox, first)).toBe('processed');
      expect(readAll(database, 'SELECT count(*) FROM Shop_events').map(Number)).toEqual([1]);
    });

    test.each([
      'payment reference with blanks',
      '{braces}',
      'ünïcödé 💶',
      'nul\u0000nul',
      "'; DROP TABLE payment_inbox_payments; --",
      'x'.repeat(10_240),
      '',
    ])('take the odd reference and key %#', async (odd) => {
      const { inbox, database } = openInbox();
      const event = { ...first, paymentReference: odd, key: odd };
      expect(await deliver(inbox, event)).toBe('processed');
      for (const stored of readAll(database, 'SELECT * FROM payment_inbox_events')) {
        expect(stored).toMatch(/^[!-~]{1,128}$/);
      }
      expect(await deliver(inbox, event)).toBe('duplicate');
      expect(await deliver(inbox, { ...event, key: `${odd}2` })).toBe('processed');
      expect(await deliver(inbox, { ...event, paymentReference: `${odd}2` })).toBe('processed');
    });
  });

  describe('the order of changes', () => {
    test.each([
      ['2026-01-31T12:00:00.001Z', 1, '2026-01-31T12:00:00.001Z', 0],
      ['2026-01-31T12:00:00.001Z', 0, '2026-01-31T12:00:00.000Z', 999],
      ['0000-01-01T00:00:00.001Z', 0, '0000-01-01T00:00:00.000Z', 0],
      ['1970-01-01T00:00:00Z', 0, '0000-01-01T00:00:00Z', 0],
      ['9999-12-31T23:59:59.999Z', 0, '9999-12-31T23:59:59.998Z', 0],
      ['9999-12-31T23:59:59.999Z', 0, '0000-01-01T00:00:00Z', 0],
    ])('puts %s + %i µs after %s + %i µs', async (later, laterMicros, earlier, earlierMicros) => {
      const { inbox } = openInbox();
      const late = eventAt(later, { microseconds: laterMicros });
      const early = eventAt(earlier, { microseconds: earlierMicros });
      expect(await deliver(inbox, late)).toBe('processed');
      expect(await deliver(inbox, early)).toBe('stale');
      expect(await deliver(inbox, { ...late, key: 'same instant' })).toBe('processed');
      expect(await deliver(inbox, { ...early, processStale: true })).toBe('processed');
      expect(await deliver(inbox, { ...early, key: 'still stale' })).toBe('stale');

      const other = openInbox().inbox;
      const rising = { paymentReference: 'payment-2' };
      expect(await deliver(other, { ...early, ...rising })).toBe('processed');
      expect(await deliver(other, { ...late, ...rising })).toBe('processed');
      expect(await deliver(other, { ...early, ...rising, key: 'again' })).toBe('stale');
    });

    test('is looked at before whether the payment is being processed', async () => {
      const { inbox } = openInbox();
      await deliver(inbox, second);
      const held = await hold(inbox, eventAt('2026-01-31T12:00:02Z'));
      expect(await deliver(inbox, first)).toBe('stale');
      expect(await deliver(inbox, second)).toBe('duplicate');
      expect(await deliver(inbox, eventAt('2026-01-31T12:00:03Z'))).toBe('busy');
      await held.complete();
    });
  });

  describe('a claim', () => {
    test('holds off other connections until the work is done', async () => {
      const [one, other] = [openInbox().inbox, openInbox().inbox];
      const held = await hold(one, first);
      expect(await deliver(other, first)).toBe('busy');
      expect(await deliver(other, second)).toBe('busy');
      expect(await deliver(other, { ...first, paymentReference: 'payment-2' })).toBe('processed');
      expect(await held.complete()).toBe('processed');
      expect(await deliver(other, first)).toBe('duplicate');
      expect(await deliver(other, second)).toBe('processed');
    });

    test('holds no transaction open while the work runs, which may make its own', async () => {
      const { inbox, database } = openInbox();
      await inbox.process(first, async () => {
        expect(database.inTransaction ?? database.isTransaction).toBe(false);
        database.exec('BEGIN; CREATE TABLE orders (id); INSERT INTO orders VALUES (7); COMMIT');
      });
      expect(readAll(database, 'SELECT id FROM orders').map(Number)).toEqual([7]);
      expect(await deliver(inbox, first)).toBe('duplicate');
    });

    test('leaves nothing behind when the first work for a payment fails', async () => {
      const { inbox, database } = openInbox();
      const error = new Error('the work failed');
      const held = await hold(inbox, first);
      await expect(held.fail(error)).rejects.toBe(error);
      expect(countPayments(database)).toBe(0);
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('leaves what was processed before when later work fails', async () => {
      const { inbox } = openInbox();
      await deliver(inbox, first);
      const held = await hold(inbox, second);
      await expect(held.fail(new Error('the work failed'))).rejects.toThrow('the work failed');
      expect(await deliver(inbox, first)).toBe('duplicate');
      expect(await deliver(inbox, eventAt('2026-01-31T11:59:59Z'))).toBe('stale');
      expect(await deliver(inbox, second)).toBe('processed');
    });

    test('is not granted when another connection is granted one just before', async () => {
      const { inbox, database } = openInbox();
      const other = openInbox().inbox;
      const exec = database.exec.bind(database);
      let successor: ReturnType<typeof hold> | undefined;
      vi.spyOn(database, 'exec').mockImplementationOnce((sql) => {
        successor = hold(other, first);
        return exec(sql);
      });
      expect(await deliver(inbox, first)).toBe('busy');
      expect(await (await successor)?.complete()).toBe('processed');
    });

    test('lives for leaseMs and not longer', async () => {
      const [one, other] = [openInbox().inbox, openInbox().inbox];
      const dead = await hold(one, first);
      nowMs += LEASE_MS - 1;
      expect(await deliver(other, first)).toBe('busy');
      nowMs += 1;
      expect(await deliver(other, first)).toBe('processed');
      await expect(dead.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });

    test('lives for as long as it was granted when the clock steps back, from the next delivery on', async () => {
      const [one, other] = [openInbox().inbox, openInbox({ leaseMs: 1_000 }).inbox];
      const dead = await hold(one, first);
      nowMs -= 3_600_000;
      expect(await deliver(other, first)).toBe('busy');
      nowMs += LEASE_MS - 1;
      expect(await deliver(other, first)).toBe('busy');
      nowMs += 1;
      expect(await deliver(other, first)).toBe('processed');
      await expect(dead.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });

    test('is still that of a holder that lives when the clock steps back', async () => {
      const [one, other] = [openInbox().inbox, openInbox().inbox];
      const held = await hold(one, first);
      nowMs -= 3_600_000;
      expect(await deliver(other, second)).toBe('busy');
      expect(await held.complete()).toBe('processed');
    });

    test('that has expired may still be finished if no other holder took over', async () => {
      const { inbox } = openInbox();
      const slow = await hold(inbox, first);
      nowMs += 10 * LEASE_MS;
      expect(await slow.complete()).toBe('processed');
      expect(await deliver(inbox, first)).toBe('duplicate');
    });

    test('that was taken over records nothing and frees nothing', async () => {
      const [one, other] = [openInbox().inbox, openInbox().inbox];
      const late = await hold(one, first);
      nowMs += LEASE_MS;
      const successor = await hold(other, first);
      await expect(late.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await deliver(one, first)).toBe('busy');
      nowMs += LEASE_MS;
      const secondSuccessor = await hold(one, first);
      await expect(successor.fail(new Error('late too'))).rejects.toThrow('late too');
      expect(await deliver(other, first)).toBe('busy');
      expect(await secondSuccessor.complete()).toBe('processed');
    });

    test('that was taken over is lost also when the successor failed and left no row', async () => {
      const [{ inbox: one, database }, { inbox: other }] = [openInbox(), openInbox()];
      const late = await hold(one, first);
      nowMs += LEASE_MS;
      const successor = await hold(other, first);
      await expect(successor.fail(new Error('the successor failed'))).rejects.toThrow(
        'the successor failed',
      );
      expect(countPayments(database)).toBe(0);
      const third = await hold(other, first);
      await expect(late.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await third.complete()).toBe('processed');
    });

    test('is renewed while the work runs', async () => {
      const { inbox, database } = openInbox({ leaseMs: 150 });
      const held = await hold(inbox, first);
      for (const step of [1, 2]) {
        nowMs += 100;
        await expect
          .poll(() =>
            Number(readAll(database, 'SELECT owner_until_ms FROM payment_inbox_payments')[0]),
          )
          .toBe(1_769_860_800_000 + step * 100 + 150);
      }
      expect(held.signal.aborted).toBe(false);
      expect(await held.complete()).toBe('processed');
    });

    test('that was renewed is finished as long as the renewal lives, however long that takes', async () => {
      const { inbox, database } = openInbox({ leaseMs: 150 });
      const held = await hold(inbox, first);
      const until = () =>
        Number(readAll(database, 'SELECT owner_until_ms FROM payment_inbox_payments')[0]);
      nowMs += 100;
      await expect.poll(until).toBe(nowMs + 150);
      const writer = connect();
      writer.exec('BEGIN IMMEDIATE');
      nowMs += 100;
      const exec = vi.spyOn(database, 'exec');
      const result = held.complete();
      await vi.waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      writer.exec('COMMIT');
      expect(await result).toBe('processed');
    });

    test('whose end fails for another reason than a lock is not retried', async () => {
      const { inbox, database } = openInbox();
      const held = await hold(inbox, first);
      database.exec('DROP TABLE payment_inbox_events');
      await expect(held.complete()).rejects.toMatchObject({
        code: 'STORE_FAILED',
        cause: { message: expect.stringContaining('no such table') },
      });
    });

    test('that was taken over aborts the signal of the work', async () => {
      const [one, other] = [openInbox({ leaseMs: 150 }).inbox, openInbox().inbox];
      const late = await hold(one, first);
      const aborted = once(late.signal, 'abort');
      nowMs += 150;
      const successor = await hold(other, first);
      await aborted;
      expect(late.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
      await expect(late.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      await successor.complete();
    });
  });

  describe('a file that another connection has locked', () => {
    test('makes a new event busy, and a processed one a duplicate yet', async () => {
      const { inbox } = openInbox();
      await deliver(inbox, first);
      const writer = connect();
      writer.exec('BEGIN IMMEDIATE');
      expect(await deliver(inbox, second)).toBe('busy');
      expect(await deliver(inbox, first)).toBe('duplicate');
      writer.exec('COMMIT');
      expect(await deliver(inbox, second)).toBe('processed');
    });

    test("makes every event busy when it can't be read", async () => {
      const { inbox, database } = openInbox();
      database.exec('PRAGMA journal_mode = DELETE');
      const writer = connect();
      writer.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
      expect(await deliver(inbox, first)).toBe('busy');
      writer.exec('COMMIT');
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('leaves the connection without a transaction when the commit is what fails', async () => {
      const { inbox, database } = openInbox();
      database.exec('PRAGMA journal_mode = DELETE');
      const reader = connect();
      reader.exec('PRAGMA journal_mode = DELETE; BEGIN');
      countPayments(reader);
      expect(await deliver(inbox, first)).toBe('busy');
      expect(database.inTransaction ?? database.isTransaction).toBe(false);
      reader.exec('COMMIT');
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('is waited for at the end of the work, without blocking the process', async () => {
      const { inbox, database } = openInbox();
      const held = await hold(inbox, first);
      const writer = connect();
      writer.exec('BEGIN IMMEDIATE');
      const exec = vi.spyOn(database, 'exec');
      const result = held.complete();
      await vi.waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      expect(exec.mock.calls).toContainEqual(['BEGIN IMMEDIATE']);
      expect(exec.mock.calls).not.toContainEqual(['COMMIT']);
      writer.exec('COMMIT');
      expect(await result).toBe('processed');
      expect(await deliver(inbox, first)).toBe('duplicate');
    });

    test('is waited for when the work failed, so that the event is free again', async () => {
      const { inbox, database } = openInbox();
      const held = await hold(inbox, first);
      const writer = connect();
      writer.exec('BEGIN IMMEDIATE');
      const exec = vi.spyOn(database, 'exec');
      const result = held.fail(new Error('the work failed'));
      const rejected = expect(result).rejects.toThrow('the work failed');
      await vi.waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      writer.exec('COMMIT');
      await rejected;
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('fails the delivery when it is locked until the lease has expired', async () => {
      const { inbox, database } = openInbox();
      const held = await hold(inbox, first);
      const writer = connect();
      writer.exec('BEGIN IMMEDIATE');
      const exec = vi.spyOn(database, 'exec');
      const rejected = expect(held.complete()).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        message: expect.stringContaining('another connection had the file locked'),
        cause: expect.objectContaining({ message: 'database is locked' }),
      });
      await vi.waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      nowMs += LEASE_MS;
      await rejected;
      writer.exec('COMMIT');
      expect(await deliver(inbox, first)).toBe('processed');
    });
  });

  describe('a transaction that is open on the connection', () => {
    test('refuses an event, and nothing is claimed', async () => {
      const { inbox, database } = openInbox();
      database.exec('BEGIN');
      await expect(deliver(inbox, first)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'database',
        message: expect.stringContaining('must not be in a transaction'),
      });
      expect(() => inbox.prune(new Date())).toThrow('must not be in a transaction');
      database.exec('ROLLBACK');
      expect(countPayments(database)).toBe(0);
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('at the end of the work fails the delivery at once, and is never written to', async () => {
      const { inbox, database } = openInbox();
      const exec = vi.spyOn(database, 'exec');
      // With both clocks at a standstill, any wait would be without end.
      vi.spyOn(performance, 'now').mockReturnValue(0);
      const notKept: unknown[] = [];
      const failures: FailurePolicy = { onNotKept: (error) => void notKept.push(error) };
      const failed = inbox.process({ ...first, failures }, async () => {
        database.exec('BEGIN; CREATE TABLE orders (id)');
        exec.mockClear();
      });
      await expect(failed).rejects.toMatchObject({
        code: 'TRANSACTION_LOST',
        message: expect.stringContaining('end it before the work returns'),
      });
      expect(exec).not.toHaveBeenCalled();
      expect(notKept).toMatchObject([{ code: 'STORE_TIMEOUT' }]);
      vi.restoreAllMocks();
      database.exec('ROLLBACK');
      // Released as soon as the connection is free, though the clock of the lease stands still.
      await vi.waitFor(async () => expect(await deliver(inbox, first)).toBe('processed'));
      expect(await deliver(openInbox().inbox, first)).toBe('duplicate');
    });

    test('at the end of work that throws does not delay its error until the lease has expired', async () => {
      const { inbox, database } = openInbox();
      const held = await hold(inbox, first);
      database.exec('BEGIN');
      // The two seconds have passed whenever the inbox looks at the clock; those of the lease never do.
      let atMs = performance.now();
      vi.spyOn(performance, 'now').mockImplementation(() => {
        atMs += 2_000;
        return atMs;
      });
      await expect(held.fail(new Error('out of stock'))).rejects.toThrow('out of stock');
      database.exec('ROLLBACK');
      vi.restoreAllMocks();
      await vi.waitFor(async () => expect(await deliver(inbox, first)).toBe('processed'));
    });
  });

  describe('a connection that does not tell its transactions', () => {
    // As node:sqlite before Node 22.16.
    function openTaciturn({ leaseMs = LEASE_MS } = {}) {
      const database = connect();
      const taciturn: OpenDatabase = {
        exec: (sql) => database.exec(sql),
        prepare: (sql) => database.prepare(sql),
        close: () => database.close(),
      };
      return { taciturn, ...openInbox({ database: taciturn, leaseMs }) };
    }

    test('makes an event busy during one', async () => {
      const { inbox, database } = openTaciturn();
      database.exec('BEGIN');
      expect(await deliver(inbox, first)).toBe('busy');
      database.exec('COMMIT');
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('is waited for at the end of the work', async () => {
      const { inbox, taciturn } = openTaciturn();
      const held = await hold(inbox, first);
      taciturn.exec('BEGIN; CREATE TABLE orders (id)');
      const exec = vi.spyOn(taciturn, 'exec');
      const result = held.complete();
      await vi.waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(1));
      taciturn.exec('ROLLBACK');
      expect(await result).toBe('processed');
      expect(await deliver(openInbox().inbox, first)).toBe('duplicate');
    });

    test('fails the delivery when it is open until the lease has expired', async () => {
      const { inbox, taciturn } = openTaciturn();
      const held = await hold(inbox, first);
      taciturn.exec('BEGIN');
      nowMs += LEASE_MS;
      await expect(held.complete()).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        message: expect.stringContaining(
          'a transaction or an iterate() was open on the connection',
        ),
      });
      taciturn.exec('ROLLBACK');
    });

    test('does not renew a claim within one, which could be rolled back', async () => {
      const { inbox, taciturn } = openTaciturn({ leaseMs: 300 });
      const until = () =>
        readAll(taciturn, 'SELECT owner_until_ms FROM payment_inbox_payments').map(Number);
      const held = await hold(inbox, first);
      const before = until();
      taciturn.exec('BEGIN');
      nowMs += 100;
      const exec = vi.spyOn(taciturn, 'exec');
      await vi.waitFor(() => expect(exec).toHaveBeenCalledWith('BEGIN IMMEDIATE'));
      expect(until()).toEqual(before);
      taciturn.exec('ROLLBACK');
      expect(await held.complete()).toBe('processed');
    });
  });

  describe('an iterate() that is under way on the connection', () => {
    /** Its first row has been read, and its last has not, until it is ended. */
    function iterate(database: OpenDatabase) {
      const statement = database.prepare('VALUES (1), (2), (3)') as unknown as {
        iterate(): Iterator<unknown>;
      };
      const rows = statement.iterate();
      rows.next();
      return { end: () => rows.return?.() };
    }

    test('never makes a delivery fail', async () => {
      const { inbox, database } = openInbox();
      const rows = iterate(database);
      // It is in the way with better-sqlite3 only.
      expect(await deliver(inbox, first)).toMatch(/^(busy|processed)$/);
      rows.end();
      expect(await deliver(inbox, first)).toMatch(/^(processed|duplicate)$/);
    });

    test('is waited for at the end of the work', async () => {
      const { inbox, database } = openInbox();
      const held = await hold(inbox, first);
      const rows = iterate(database);
      const exec = vi.spyOn(database, 'exec');
      const result = held.complete();
      await vi.waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(1));
      rows.end();
      expect(await result).toBe('processed');
      expect(await deliver(inbox, first)).toBe('duplicate');
    });
  });

  describe('changes that failed', () => {
    const broken = () => Promise.reject(new Error('broken'));
    const failOf = (inbox: SqliteInbox, event: InboxEvent) =>
      expect(inbox.process(event, broken)).rejects.toThrow('broken');
    async function list(inbox: SqliteInbox, options?: { limit: number }): Promise<string[]> {
      const listed: string[] = [];
      for await (const change of inbox.failedChanges(options)) listed.push(change.paymentReference);
      return listed;
    }

    test('are listed once each, the longest failing first, however many they are', async () => {
      const { inbox } = openInbox();
      const references = Array.from({ length: 201 }, (_, index) => `payment-${1000 + index}`);
      for (const paymentReference of references.toReversed()) {
        await failOf(inbox, { ...first, paymentReference });
      }
      nowMs -= 1_000;
      await failOf(inbox, { ...first, paymentReference: 'earlier' });
      const all = ['earlier', ...references];
      expect(await list(inbox)).toEqual(all);
      expect(await list(inbox, { limit: 200 })).toEqual(all.slice(0, 200));
      expect(await list(inbox, { limit: 1 })).toEqual(['earlier']);
      nowMs += 2_000;
      expect(inbox.prune(new Date(nowMs))).toBe(202);
    });

    // The failure is described right before it is kept.
    function lockedWhenKept(more: Partial<FailurePolicy> = {}) {
      const { inbox, database } = openInbox();
      const other = connect();
      const exec = vi.spyOn(database, 'exec');
      const describeError = () => {
        other.exec('BEGIN IMMEDIATE');
        return { name: 'Error', message: 'described' };
      };
      const refused = () =>
        expect
          .poll(() => exec.mock.results.filter(({ type }) => type === 'throw').length)
          .toBeGreaterThan(0);
      return { inbox, other, refused, event: { ...second, failures: { describeError, ...more } } };
    }

    test('are kept once the file is free again', async () => {
      const { inbox, other, refused, event } = lockedWhenKept();
      const failed = failOf(inbox, event);
      await refused();
      other.exec('ROLLBACK');
      await failed;
      expect(await list(inbox)).toEqual(['payment-1']);
    });

    test('fail with their own error when the file stays locked for two seconds', async () => {
      const { inbox, other, refused, event } = lockedWhenKept();
      const failed = failOf(inbox, event);
      await refused();
      endPatience();
      nowMs += LEASE_MS;
      await failed;
      other.exec('ROLLBACK');
      expect(await list(inbox)).toEqual([]);
    });

    test('and wait for an earlier one are not acknowledged when they can not be parked', async () => {
      const { inbox, other, refused, event } = lockedWhenKept({ blockParked: true });
      await failOf(inbox, { ...first, failures: { parkAfter: 1 } });
      const work = vi.fn(async () => {});
      const failed = expect(inbox.process(event, work)).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        message:
          'The failure of the change could not be stored: another connection had the file locked for 2 s. Keep transactions short, and keep no transaction or iterate() open across an await',
        cause: expect.objectContaining({ message: 'database is locked' }),
      });
      await refused();
      endPatience();
      await failed;
      other.exec('ROLLBACK');
      expect(work).not.toHaveBeenCalled();
      expect(await list(inbox)).toEqual(['payment-1']);
    });

    test('can not be listed while another connection has the whole file', async () => {
      const { inbox, database } = openInbox();
      await failOf(inbox, first);
      database.exec('PRAGMA journal_mode = DELETE');
      const other = connect();
      other.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
      await expect(list(inbox)).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringMatching(/^SQLite failed during a step of the inbox/),
        cause: expect.objectContaining({ message: 'database is locked' }),
      });
      other.exec('ROLLBACK');
      expect(await list(inbox)).toEqual(['payment-1']);
    });

    test('need the tables', async () => {
      const unmade = sqliteInbox(connect(), { prefix: 'none_' });
      await expect(list(unmade)).rejects.toMatchObject({
        code: 'MISSING_TABLES',
        message: expect.stringContaining('call setup()'),
      });
    });
  });

  describe('prune', () => {
    test('forgets payments by their last change, and counts their events', async () => {
      const { inbox, database } = openInbox();
      await deliver(inbox, first);
      nowMs += 1_000;
      await deliver(inbox, second);
      await deliver(inbox, { ...first, paymentReference: 'payment-2' });
      nowMs += 1_000;
      await deliver(inbox, { ...first, paymentReference: 'payment-3' });
      expect(inbox.prune(new Date(nowMs - 1_000))).toBe(0);
      expect(await deliver(inbox, first)).toBe('duplicate');
      expect(inbox.prune(new Date(nowMs - 999))).toBe(3);
      expect(countPayments(database)).toBe(1);
      expect(await deliver(inbox, { ...first, paymentReference: 'payment-3' })).toBe('duplicate');
      expect(await deliver(inbox, first)).toBe('processed');
    });

    test('keeps a payment that is being processed, however old', async () => {
      const { inbox } = openInbox();
      await deliver(inbox, first);
      nowMs += 1_000;
      const held = await hold(inbox, second);
      expect(inbox.prune(new Date(nowMs + 1))).toBe(0);
      expect(await deliver(inbox, first)).toBe('duplicate');
      expect(await held.complete()).toBe('processed');
      expect(await deliver(inbox, second)).toBe('duplicate');
    });

    test('finds what is old by an index, which setup adds to tables of 0.1.0', async () => {
      const { inbox, database } = openInbox();
      await deliver(inbox, first);
      database.exec('DROP INDEX payment_inbox_payments_by_change');
      inbox.setup();
      expect(await deliver(inbox, first)).toBe('duplicate');
      const prepare = vi.spyOn(database, 'prepare');
      inbox.prune(new Date(0));
      const statements = prepare.mock.calls.map(([sql]) => sql);
      expect(statements).toHaveLength(3);
      for (const sql of statements) {
        const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`) as unknown as {
          all(...parameters: number[]): object[];
        };
        const plan = rows.all(0, 0).flatMap((row) => Object.values(row).map(String));
        expect(plan.join('\n')).toMatch(
          /payments USING INDEX payment_inbox_payments_by_change \(changed_at_ms<\?\)|failures USING INDEX payment_inbox_failures_by_time \(first_failed_at_ms<\?\)/,
        );
      }
    });

    test('forgets the oldest 5,000 payments at a time, so that the process does not stand still', () => {
      const { inbox, database } = openInbox();
      database.exec(`
        WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 5002)
        INSERT INTO payment_inbox_payments (reference, watermark, changed_at_ms)
        SELECT 'payment-' || n, 0, n FROM numbers;
        INSERT INTO payment_inbox_events SELECT reference, 'key' FROM payment_inbox_payments;`);
      const later = new Date(nowMs);
      expect(inbox.prune(later)).toBe(5_000);
      expect(
        readAll(database, 'SELECT min(changed_at_ms), count(*) FROM payment_inbox_payments').map(
          Number,
        ),
      ).toEqual([5_001, 2]);
      expect(readAll(database, 'SELECT count(*) FROM payment_inbox_events').map(Number)).toEqual([
        2,
      ]);
      expect([inbox.prune(later), inbox.prune(later)]).toEqual([2, 0]);
    });

    test('forgets a claim that a dead process left', async () => {
      const { inbox, database } = openInbox();
      const dead = await hold(inbox, first);
      nowMs += LEASE_MS;
      expect(inbox.prune(new Date(nowMs))).toBe(0);
      expect(countPayments(database)).toBe(0);
      await expect(dead.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });

    test.each([
      [new Date(Number.NaN), 'received an invalid one'],
      [undefined, 'is missing; it must be a valid Date'],
      [0, 'received a number'],
    ])('refuses %s', (olderThan, says) => {
      const { inbox } = openInbox();
      expect(() => inbox.prune(olderThan as Date)).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          option: 'olderThan',
          message: expect.stringContaining(says),
        }),
      );
    });
  });

  test.each([
    [{ leaseMs: 99 }, 'leaseMs', 'from 100 to 2147483647; received 99'],
    [{ leaseMs: 2_147_483_648 }, 'leaseMs', 'from 100 to 2147483647'],
    [{ renewForMs: 0 }, 'renewForMs', 'from 1; received 0'],
    [{ renewForMs: 1.5 }, 'renewForMs', 'a whole number of milliseconds from 1; received 1.5'],
    [{ now: 0 }, 'now', 'must be a function that returns epoch milliseconds'],
    [{ prefix: '' }, 'prefix', 'received an empty string'],
    [{ prefix: 'a"; DROP TABLE x; --' }, 'prefix', 'ASCII letters'],
    [{ prefix: '1a' }, 'prefix', 'not starting with a digit'],
    [{ prefix: 'SQLite_x' }, 'prefix', 'or sqlite_'],
    [{ prefix: 'x'.repeat(41) }, 'prefix', '1 to 40'],
    [{ prefix: 'a\n' }, 'prefix', 'ASCII letters'],
    [null, 'options', 'must be an object with prefix, leaseMs, renewForMs, keepBodies, now'],
  ])('refuses the options %j', (options, option, says) => {
    expect(() => sqliteInbox(connect(), options as object)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        option,
        message: expect.stringContaining(says),
      }),
    );
  });
});

test.each([undefined, null, {}, { exec() {} }, 'inbox.db'])(
  'refuses %j as a database',
  (database) => {
    expect(() => sqliteInbox(database as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option: 'database' }),
    );
  },
);
