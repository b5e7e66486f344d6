import { describe, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { CallbackStore } from '../../src/store/callback-store.js';
import { changeAt, deliver, hold } from '../store/held-delivery.js';
import { order } from '../store/orders.js';
import { outcomeOf } from '../store/outcome-of.js';
import { unusedClient } from '../store/unused-client.js';
import { waitFor } from '../wait-for.js';
import { drivers, type OpenDatabase } from './open-database.js';
import { count, LEASE_MS, readAll, Scene, untilMs } from './scene.js';

const first = changeAt('2026-01-31T12:00:00Z');
const second = changeAt('2026-01-31T12:00:01Z');

describe.each(drivers)('with $name', ({ open }) => {
  const scene = new Scene(open);

  describe('a file that another connection has locked', () => {
    test('makes a new change busy, and a processed one a duplicate yet', async () => {
      const { store } = await scene.open();
      await deliver(store, first);
      const writer = scene.connect();
      writer.exec('BEGIN IMMEDIATE');
      expect(await deliver(store, second)).toBe('busy');
      expect(await deliver(store, first)).toBe('duplicate');
      writer.exec('COMMIT');
      expect(await deliver(store, second)).toBe('processed');
    });

    test("makes every change busy when it can't be read", async () => {
      const { store, database } = await scene.open();
      database.exec('PRAGMA journal_mode = DELETE');
      const writer = scene.connect();
      writer.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
      expect(await deliver(store, first)).toBe('busy');
      writer.exec('COMMIT');
      expect(await deliver(store, first)).toBe('processed');
    });

    test('leaves the connection without a transaction when the commit is what fails', async () => {
      const { store, database } = await scene.open();
      database.exec('PRAGMA journal_mode = DELETE');
      const reader = scene.connect();
      reader.exec('PRAGMA journal_mode = DELETE; BEGIN');
      count(reader, 'changes');
      expect(await deliver(store, first)).toBe('busy');
      expect(database.inTransaction ?? database.isTransaction).toBe(false);
      reader.exec('COMMIT');
      expect(await deliver(store, first)).toBe('processed');
    });

    test('is waited for at the end of the work, without blocking the process', async () => {
      const { store, database } = await scene.open();
      const held = await hold(store, first);
      const writer = scene.connect();
      writer.exec('BEGIN IMMEDIATE');
      const exec = vi.spyOn(database, 'exec');
      const result = held.complete();
      await waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      expect(exec.mock.calls).toContainEqual(['BEGIN IMMEDIATE']);
      expect(exec.mock.calls).not.toContainEqual(['COMMIT']);
      writer.exec('COMMIT');
      expect(await result).toBe('processed');
      expect(await deliver(store, first)).toBe('duplicate');
    });

    test('is waited for when the work failed, so that the change is free again', async () => {
      const { store, database } = await scene.open();
      const held = await hold(store, first);
      const writer = scene.connect();
      writer.exec('BEGIN IMMEDIATE');
      const exec = vi.spyOn(database, 'exec');
      const result = held.fail(new Error('the work failed'));
      const rejected = expect(result).rejects.toThrow('the work failed');
      await waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      writer.exec('COMMIT');
      await rejected;
      expect(await deliver(store, first)).toBe('processed');
    });

    test('fails the delivery when it is locked until the lease has expired', async () => {
      const { store, database } = await scene.open();
      const held = await hold(store, first);
      const writer = scene.connect();
      writer.exec('BEGIN IMMEDIATE');
      const exec = vi.spyOn(database, 'exec');
      const rejected = expect(held.complete()).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        message: expect.stringContaining('another connection had the file locked'),
        cause: expect.objectContaining({ message: 'database is locked' }),
      });
      await waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      scene.nowMs += LEASE_MS;
      await rejected;
      writer.exec('COMMIT');
      expect(await deliver(store, first)).toBe('processed');
    });
  });

  describe('a transaction that is open on the connection', () => {
    test('refuses a change, and nothing is claimed', async () => {
      const { store, database } = await scene.open();
      database.exec('BEGIN');
      await expect(deliver(store, first)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'database',
        message: expect.stringContaining('must not be in a transaction'),
      });
      database.exec('ROLLBACK');
      expect(count(database, 'claims')).toBe(0);
      expect(await deliver(store, first)).toBe('processed');
    });

    test('at the end of the work fails the delivery at once, and is never written to', async () => {
      const { store, database } = await scene.open();
      const exec = vi.spyOn(database, 'exec');
      // With both clocks at a standstill, any wait would be without end.
      vi.spyOn(performance, 'now').mockReturnValue(0);
      const failed = await store.process(first, async () => {
        database.exec('BEGIN; CREATE TABLE orders (id)');
        exec.mockClear();
      });
      expect(failed).toMatchObject({
        outcome: 'failed',
        error: {
          code: 'TRANSACTION_LOST',
          message: expect.stringContaining('end it before the work returns'),
        },
        notKept: {
          code: 'STORE_TIMEOUT',
          message: expect.stringContaining('was open on the connection. Keep transactions short'),
        },
      });
      expect(exec).not.toHaveBeenCalled();
      vi.restoreAllMocks();
      database.exec('ROLLBACK');
      // Released as soon as the connection is free, though the clock of the lease stands still.
      await waitFor(async () => expect(await deliver(store, first)).toBe('processed'));
      expect(await deliver(await scene.store(), first)).toBe('duplicate');
    });

    test('at the end of work that throws does not delay its error until the lease has expired', async () => {
      const { store, database } = await scene.open();
      const held = await hold(store, first);
      database.exec('BEGIN');
      // The two seconds have passed whenever the store looks at the clock; those of the lease never do.
      let atMs = performance.now();
      vi.spyOn(performance, 'now').mockImplementation(() => {
        atMs += 2_000;
        return atMs;
      });
      await expect(held.fail(new Error('out of stock'))).rejects.toThrow('out of stock');
      database.exec('ROLLBACK');
      vi.restoreAllMocks();
      await waitFor(async () => expect(await deliver(store, first)).toBe('processed'));
    });
  });

  describe('a file that can not be written', () => {
    const refused = (says: string) => ({
      code: 'STORE_FAILED',
      message: expect.stringContaining('SQLite refused a step of the store, and nothing was'),
      cause: expect.objectContaining({ message: expect.stringContaining(says) }),
    });

    async function openEmpty() {
      const { database } = await scene.open();
      const store = sqliteStore(database, { client: unusedClient, now: scene.now });
      return { store, database };
    }

    test.each<[string, string, (database: OpenDatabase) => void]>([
      ['is read-only', 'readonly', (database) => database.exec('PRAGMA query_only = 1')],
      ['was closed', 'not open', (database) => scene.close(database)],
    ])(
      'because it %s makes every step fail, and says that nothing was written',
      async (_, says, make) => {
        const { store, database } = await openEmpty();
        make(database);
        const work = vi.fn(async () => {});
        await expect(outcomeOf(store, first, work)).rejects.toMatchObject(refused(says));
        await expect(store.create(order('order-1'))).rejects.toMatchObject(refused(says));
        expect(work).not.toHaveBeenCalled();
        const unmade = sqliteStore(database, { prefix: 'none_' });
        await expect(unmade.setup()).rejects.toMatchObject(refused(says));
      },
    );

    test('because the disk is full makes a step fail, and the step can be repeated', async () => {
      const { store, database } = await openEmpty();
      const [pages] = readAll(database, 'PRAGMA page_count');
      database.exec(`PRAGMA max_page_count = ${Number(pages)}`);
      const failed = await fillWithChanges(store);
      expect(failed.error).toMatchObject(refused('full'));
      const large = { extraBody: { padding: 'x'.repeat(5_000) } };
      await expect(store.create(order('order-1'), large)).rejects.toMatchObject(refused('full'));
      database.exec('PRAGMA max_page_count = 1000000');
      expect(await store.get('order-1')).toBeUndefined();
      expect(await deliver(store, failed.change)).toBe('processed');
    });

    /** Processes changes until one fails. */
    async function fillWithChanges(store: CallbackStore) {
      for (let number = 0; ; number += 1) {
        const change = changeAt('2026-01-31T12:00:00Z', { order: `full-${number}` });
        const error = await deliver(store, change).catch((thrown: unknown) => thrown);
        if (error !== 'processed') return { change, error };
      }
    }
  });

  describe('a connection that does not tell its transactions', () => {
    // As node:sqlite before Node 22.16.
    async function openTaciturn({ leaseMs = LEASE_MS } = {}) {
      const database = scene.connect();
      const taciturn: OpenDatabase = {
        exec: (sql) => database.exec(sql),
        prepare: (sql) => database.prepare(sql),
        close: () => database.close(),
      };
      return { taciturn, ...(await scene.open({ database: taciturn, leaseMs })) };
    }

    test('makes a change busy during one', async () => {
      const { store, database } = await openTaciturn();
      database.exec('BEGIN');
      expect(await deliver(store, first)).toBe('busy');
      database.exec('COMMIT');
      expect(await deliver(store, first)).toBe('processed');
    });

    test('does not renew a claim within one, which could be rolled back', async () => {
      const { store, taciturn } = await openTaciturn({ leaseMs: 300 });
      const held = await hold(store, first);
      const before = untilMs(taciturn);
      taciturn.exec('BEGIN');
      scene.nowMs += 100;
      const exec = vi.spyOn(taciturn, 'exec');
      await waitFor(() => expect(exec).toHaveBeenCalledWith('BEGIN IMMEDIATE'));
      expect(untilMs(taciturn)).toBe(before);
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
      const { store, database } = await scene.open();
      const rows = iterate(database);
      // It is in the way with better-sqlite3 only.
      expect(await deliver(store, first)).toMatch(/^(busy|processed)$/);
      rows.end();
      expect(await deliver(store, first)).toMatch(/^(processed|duplicate)$/);
    });

    test('is waited for at the end of the work', async () => {
      const { store, database } = await scene.open();
      const held = await hold(store, first);
      const rows = iterate(database);
      const exec = vi.spyOn(database, 'exec');
      const result = held.complete();
      await waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(1));
      rows.end();
      expect(await result).toBe('processed');
      expect(await deliver(store, first)).toBe('duplicate');
    });
  });
});
