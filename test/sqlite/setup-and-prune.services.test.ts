import { describe, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { changeAt, deliver, hold } from '../store/held-delivery.js';
import { order } from '../store/orders.js';
import { outcomeOf } from '../store/outcome-of.js';
import { unusedClient } from '../store/unused-client.js';
import { drivers, type OpenDatabase } from './open-database.js';
import { count, LEASE_MS, readAll, Scene } from './scene.js';

const first = changeAt('2026-01-31T12:00:00Z');
const second = changeAt('2026-01-31T12:00:01Z');

describe.each(drivers)('with $name', ({ open }) => {
  const scene = new Scene(open);

  // What a power cut would undo can't be tried here; SQLite's documentation says it of each level.
  describe('a power cut', () => {
    const levelOf = (database: OpenDatabase) => Number(readAll(database, 'PRAGMA synchronous')[0]);

    test('undoes no commit: each is on disk before the step returns', async () => {
      const { database, store } = await scene.open();
      const seen: number[] = [];
      const work = async () => void seen.push(levelOf(database));
      await outcomeOf(store, first, work);
      await outcomeOf(store, second, work);
      expect([...seen, levelOf(database)]).toEqual([2, 2, 2]);
    });

    test('undoes none of a connection that is in use already', async () => {
      await deliver(await scene.store(), first);
      const database = scene.connect();
      count(database, 'changes');
      database.exec('CREATE TABLE orders (reference TEXT)');
      const { store } = await scene.open({ database });
      await deliver(store, second);
      expect(levelOf(database)).toBe(2);
    });

    test.each([
      ['OFF', 0],
      ['EXTRA', 3],
    ])('finds %s as it was set', async (level, expected) => {
      const { database, store } = await scene.open();
      database.exec(`PRAGMA synchronous = ${level}`);
      await deliver(store, first);
      expect(levelOf(database)).toBe(expected);
    });
  });

  describe('setup', () => {
    test('is named in the error when it was not called', async () => {
      const store = sqliteStore(scene.connect(), { client: unusedClient });
      const missing = {
        code: 'MISSING_TABLES',
        message: expect.stringMatching(/nothing was written; see cause\. Call setup\(\) once/),
        cause: expect.objectContaining({ message: expect.stringContaining('no such table') }),
      };
      await expect(deliver(store, first)).rejects.toMatchObject(missing);
      await expect(store.prune(new Date())).rejects.toMatchObject(missing);
      await expect(store.create(order('order-1'))).rejects.toMatchObject(missing);
      await expect(store.get('order-1')).rejects.toMatchObject(missing);
      await store.setup();
      expect(await deliver(store, first)).toBe('processed');
    });

    test('writes nothing if everything exists, and needs no right to', async () => {
      const { store, database } = await scene.open();
      database.exec('PRAGMA query_only = 1');
      await store.setup();
    });

    test('waits for another connection that has the file locked, for five seconds', async () => {
      const database = scene.connect();
      const writer = scene.connect();
      writer.exec('BEGIN IMMEDIATE; CREATE TABLE other (id)');
      const settingUp = sqliteStore(database).setup();
      await new Promise(setImmediate);
      writer.exec('COMMIT');
      await settingUp;
      expect(count(database, 'changes')).toBe(0);

      writer.exec('BEGIN IMMEDIATE');
      const late = sqliteStore(database, { prefix: 'late_' }).setup();
      const later = performance.now() + 5_000;
      vi.spyOn(performance, 'now').mockReturnValue(later);
      await expect(late).rejects.toMatchObject({
        code: 'STORE_TIMEOUT',
        cause: expect.objectContaining({ message: 'database is locked' }),
      });
      writer.exec('COMMIT');
    });

    test('may be called by several connections at the same time', async () => {
      const stores = [1, 2, 3].map(() => sqliteStore(scene.connect()));
      await Promise.all(stores.map((store) => store.setup()));
      for (const store of stores)
        expect(await deliver(store, first)).toMatch(/processed|duplicate/);
    });

    test('uses the prefix, whatever its case, for all tables and indexes', async () => {
      const database = scene.connect();
      const shop = sqliteStore(database, { prefix: 'Shop_' });
      await shop.setup();
      expect(await deliver(shop, first)).toBe('processed');
      const { store } = await scene.open({ database });
      expect(await deliver(store, first)).toBe('processed');
      const same = sqliteStore(database, { prefix: 'sHOP_' });
      const exec = vi.spyOn(database, 'exec');
      await same.setup();
      expect(exec).not.toHaveBeenCalled();
      expect(await deliver(same, first)).toBe('duplicate');
      const names = database
        .prepare(
          "SELECT name FROM sqlite_master WHERE name LIKE 'shop!_%' ESCAPE '!' ORDER BY name",
        )
        .all();
      expect(names.flatMap((row) => Object.values(row as object))).toEqual([
        'Shop_changes',
        'Shop_changes_processed',
        'Shop_claims',
        'Shop_failed_changes',
        'Shop_failed_changes_age',
        'Shop_payments',
        'Shop_payments_state',
        'Shop_second_payments',
      ]);
    });

    test.each([
      ['payments', 'paid_by'],
      ['failed_changes', 'raw_body'],
    ])('adds to the table %s a missing column %s, which may be empty', async (table, column) => {
      const { store, database } = await scene.open();
      await deliver(store, first);
      database.exec(`ALTER TABLE payment_store_${table} DROP COLUMN ${column}`);
      await store.setup();
      expect(await deliver(store, first)).toBe('duplicate');
      const broken = changeAt('2026-01-31T12:00:03Z', { status: 'paid' });
      await expect(
        outcomeOf(store, broken, () => Promise.reject(new Error('broken'))),
      ).rejects.toThrow('broken');
      expect(await deliver(store, broken)).toBe('processed');
    });

    test.each([
      ['changes', 'payment_store_changes_processed'],
      ['failed_changes', 'payment_store_failed_changes_age'],
      ['payments', 'payment_store_payments_state'],
    ])('makes a missing index of %s', async (_, index) => {
      const { store, database } = await scene.open();
      database.exec(`DROP INDEX ${index}`);
      await store.setup();
      const found = readAll(database, `SELECT count(*) FROM sqlite_master WHERE name = '${index}'`);
      expect(found.map(Number)).toEqual([1]);
    });

    test.each([
      ['payments', 'merchant_payment_reference'],
      ['changes', 'merchant_payment_reference'],
      ['claims', 'merchant_payment_reference'],
    ])('refuses a table %s of something else, and changes nothing', async (table, column) => {
      const database = scene.connect();
      database.exec(`CREATE TABLE payment_store_${table} (paid_by TEXT, amount INTEGER)`);
      const store = sqliteStore(database);
      await expect(store.setup()).rejects.toMatchObject({
        code: 'MISSING_TABLES',
        message: expect.stringContaining(`"payment_store_${table}" has no column ${column}:`),
      });
      expect(readAll(database, 'SELECT count(*) FROM sqlite_master').map(Number)).toEqual([1]);
    });
  });

  describe('prune', () => {
    test('leaves a change that is being processed to its holder, however old its order is', async () => {
      const { store, database } = await scene.open();
      await deliver(store, first);
      scene.nowMs += 1_000;
      const held = await hold(store, second);
      await store.prune(new Date(scene.nowMs + 86_400_000));
      expect(count(database, 'payments')).toBe(0);
      expect(await deliver(store, second)).toBe('busy');
      expect(await held.complete()).toBe('processed');
      expect(await deliver(store, second)).toBe('duplicate');
    });

    test('forgets a claim that a dead process left', async () => {
      const { store, database } = await scene.open();
      const dead = await hold(store, first);
      scene.nowMs += LEASE_MS;
      await store.prune(new Date(scene.nowMs));
      expect(count(database, 'claims')).toBe(1);
      scene.nowMs += 1;
      await store.prune(new Date(scene.nowMs));
      expect(count(database, 'claims')).toBe(0);
      await expect(dead.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });

    test('finds what is old by an index, and deletes or changes it by key', async () => {
      const { store, database } = await scene.open();
      const failures = { getRawBody: () => Uint8Array.of(1) };
      const broken = { ...changeAt('2026-01-31T12:00:00Z', { order: 'order-2' }), failures };
      await deliver(store, first);
      await outcomeOf(store, broken, () => Promise.reject(new Error('broken'))).catch(() => {});
      const prepare = vi.spyOn(database, 'prepare');
      await store.prune(new Date(scene.nowMs + 1));
      const statements = prepare.mock.calls.map(([sql]) => sql);
      vi.restoreAllMocks();
      const plans = statements
        .filter((sql) => /^(SELECT|UPDATE|DELETE)/.test(sql) && !/claims/.test(sql))
        .map((sql) => {
          const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
          return rows.flatMap((row) => Object.values(row as object).map(String)).join('\n');
        });
      expect(plans).toHaveLength(11);
      for (const plan of plans) {
        expect(plan).toMatch(
          /failed_changes_age \(first_failed_at_ms>\? AND first_failed_at_ms<\?\)|changes_processed \(processed_at_ms>\? AND processed_at_ms<\?\)|payments_state \(state=\? AND (?:changed_at_ms>\? AND )?changed_at_ms<\?\)|USING PRIMARY KEY \(merchant_payment_reference=\?/,
        );
      }
    });

    test('deletes thousands of rows in steps between which other code runs', async () => {
      const { store, database } = await scene.open();
      const numbers = `WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)`;
      database.exec(`${numbers}
        INSERT INTO payment_store_payments (merchant_payment_reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
        SELECT 'order-' || n, '', '', 'elsewhere', 0, 1, 1 FROM numbers;
        ${numbers}
        INSERT INTO payment_store_changes SELECT 'order-' || n, 'payment', 'key', 1, 1, 1 FROM numbers;`);
      let turns = 0;
      const tick = () => {
        turns += 1;
        next = setImmediate(tick);
      };
      let next = setImmediate(tick);
      expect(await store.prune(new Date(2))).toBe(4_000);
      clearImmediate(next);
      expect(turns).toBeGreaterThanOrEqual(19);
      expect([count(database, 'payments'), count(database, 'changes')]).toEqual([0, 0]);
    });

    test('refuses what is no date', async () => {
      const { store } = await scene.open();
      const refused = { code: 'INVALID_OPTION', option: 'olderThan' };
      await expect(store.prune(0 as never)).rejects.toMatchObject(refused);
    });
  });
});
