import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { changeAt, deliver, hold, isCurrent } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { unusedClient } from '../store/unused-client.js';
import { waitFor } from '../wait-for.js';
import { drivers } from './open-database.js';
import { count, LEASE_MS, order, readAll, Scene, START_MS, untilMs } from './scene.js';

const first = changeAt('2026-01-31T12:00:00Z');
const second = changeAt('2026-01-31T12:00:01Z');

describe.each(drivers)('with $name', ({ open }) => {
  const scene = new Scene(open);

  describe('the order of changes', () => {
    test.each([
      ['2026-01-31T12:00:00.001001Z', '2026-01-31T12:00:00.001Z'],
      ['2026-01-31T12:00:00.001Z', '2026-01-31T12:00:00.000999Z'],
      ['0000-01-01T00:00:00.001Z', '0000-01-01T00:00:00Z'],
      ['1970-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
      ['9999-12-31T23:59:59.999001Z', '9999-12-31T23:59:59.999Z'],
      ['9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z'],
    ])('puts %s after %s', async (later, earlier) => {
      const { store } = await scene.open();
      const [late, early] = [changeAt(later), changeAt(earlier)];
      expect(await isCurrent(store, late)).toBe(true);
      expect(await isCurrent(store, early)).toBe(false);
      expect(await isCurrent(store, { ...late, key: 'same instant' })).toBe(true);
      expect(await isCurrent(store, { ...early, key: 'still older' })).toBe(false);

      const rising = { payment: 'payment-2' };
      expect(await isCurrent(store, changeAt(earlier, rising))).toBe(true);
      expect(await isCurrent(store, changeAt(later, rising))).toBe(true);
      expect(await isCurrent(store, changeAt(earlier, { ...rising, key: 'again' }))).toBe(false);
    });

    test('does not matter while the order is being processed, and a duplicate is told at once', async () => {
      const { store } = await scene.open();
      await deliver(store, second);
      const held = await hold(store, changeAt('2026-01-31T12:00:02Z'));
      expect(await deliver(store, second)).toBe('duplicate');
      expect(await deliver(store, first)).toBe('busy');
      expect(await deliver(store, changeAt('2026-01-31T12:00:03Z'))).toBe('busy');
      await held.complete();
    });
  });

  describe('a claim', () => {
    test('holds off other connections until the work is done', async () => {
      const [one, other] = [await scene.store(), await scene.store()];
      const held = await hold(one, first);
      expect(await deliver(other, first)).toBe('busy');
      expect(await deliver(other, second)).toBe('busy');
      expect(await deliver(other, changeAt('2026-01-31T12:00:00Z', { order: 'order-2' }))).toBe(
        'processed',
      );
      expect(await held.complete()).toBe('processed');
      expect(await deliver(other, first)).toBe('duplicate');
      expect(await deliver(other, second)).toBe('processed');
    });

    test('holds no transaction open while the work runs, which may make its own', async () => {
      const { store, database } = await scene.open();
      await outcomeOf(store, first, async () => {
        expect(database.inTransaction ?? database.isTransaction).toBe(false);
        database.exec('BEGIN; CREATE TABLE orders (id); INSERT INTO orders VALUES (7); COMMIT');
      });
      expect(readAll(database, 'SELECT id FROM orders').map(Number)).toEqual([7]);
      expect(await deliver(store, first)).toBe('duplicate');
    });

    test('is gone when the work fails', async () => {
      const { store, database } = await scene.open();
      const error = new Error('the work failed');
      const held = await hold(store, first);
      await expect(held.fail(error)).rejects.toBe(error);
      expect(count(database, 'claims')).toBe(0);
      expect(await deliver(store, first)).toBe('processed');
    });

    test('leaves what was processed before when later work fails', async () => {
      const { store } = await scene.open();
      await deliver(store, first);
      const held = await hold(store, second);
      await expect(held.fail(new Error('the work failed'))).rejects.toThrow('the work failed');
      expect(await deliver(store, first)).toBe('duplicate');
      expect(await isCurrent(store, changeAt('2026-01-31T11:59:59Z'))).toBe(false);
      expect(await deliver(store, second)).toBe('processed');
    });

    test('is not granted when another connection is granted one just before', async () => {
      const { store, database } = await scene.open();
      const other = await scene.store();
      const exec = database.exec.bind(database);
      let successor: ReturnType<typeof hold> | undefined;
      vi.spyOn(database, 'exec').mockImplementationOnce((sql) => {
        successor = hold(other, first);
        return exec(sql);
      });
      expect(await deliver(store, first)).toBe('busy');
      expect(await (await successor)?.complete()).toBe('processed');
    });

    test('lives for leaseMs and not longer', async () => {
      const [one, other] = [await scene.store(), await scene.store()];
      const dead = await hold(one, first);
      scene.nowMs += LEASE_MS - 1;
      expect(await deliver(other, first)).toBe('busy');
      scene.nowMs += 1;
      expect(await deliver(other, first)).toBe('processed');
      await expect(dead.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });

    test('lives for as long as it was granted when the clock steps back, from the next delivery on', async () => {
      const [one, other] = [await scene.store(), await scene.store({ leaseMs: 1_000 })];
      const dead = await hold(one, first);
      scene.nowMs -= 3_600_000;
      expect(await deliver(other, first)).toBe('busy');
      scene.nowMs += LEASE_MS - 1;
      expect(await deliver(other, first)).toBe('busy');
      scene.nowMs += 1;
      expect(await deliver(other, first)).toBe('processed');
      await expect(dead.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });

    test('is still that of a holder that lives when the clock steps back', async () => {
      const [one, other] = [await scene.store(), await scene.store()];
      const held = await hold(one, first);
      scene.nowMs -= 3_600_000;
      expect(await deliver(other, second)).toBe('busy');
      expect(await held.complete()).toBe('processed');
    });

    test('that has expired may still be finished if no other holder took over', async () => {
      const { store } = await scene.open();
      const slow = await hold(store, first);
      scene.nowMs += 10 * LEASE_MS;
      expect(await slow.complete()).toBe('processed');
      expect(await deliver(store, first)).toBe('duplicate');
    });

    test('that was taken over records nothing and frees nothing', async () => {
      const [one, other] = [await scene.store(), await scene.store()];
      const late = await hold(one, first);
      scene.nowMs += LEASE_MS;
      const successor = await hold(other, first);
      await expect(late.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await deliver(one, first)).toBe('busy');
      scene.nowMs += LEASE_MS;
      const secondSuccessor = await hold(one, first);
      await expect(successor.fail(new Error('late too'))).rejects.toThrow('late too');
      expect(await deliver(other, first)).toBe('busy');
      expect(await secondSuccessor.complete()).toBe('processed');
    });

    test('that was taken over is lost also when the successor failed and left no claim', async () => {
      const [{ store: one, database }, other] = [await scene.open(), await scene.store()];
      const late = await hold(one, first);
      scene.nowMs += LEASE_MS;
      const successor = await hold(other, first);
      await expect(successor.fail(new Error('the successor failed'))).rejects.toThrow(
        'the successor failed',
      );
      expect(count(database, 'claims')).toBe(0);
      const third = await hold(other, first);
      await expect(late.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await third.complete()).toBe('processed');
    });

    test('is renewed while the work runs', async () => {
      const { store, database } = await scene.open({ leaseMs: 150 });
      const held = await hold(store, first);
      for (const step of [1, 2]) {
        scene.nowMs += 100;
        await expect.poll(() => untilMs(database)).toBe(START_MS + step * 100 + 150);
      }
      expect(held.signal.aborted).toBe(false);
      expect(await held.complete()).toBe('processed');
    });

    test('that was renewed is finished as long as the renewal lives, however long that takes', async () => {
      const { store, database } = await scene.open({ leaseMs: 150 });
      const held = await hold(store, first);
      scene.nowMs += 100;
      await expect.poll(() => untilMs(database)).toBe(scene.nowMs + 150);
      const writer = scene.connect();
      writer.exec('BEGIN IMMEDIATE');
      scene.nowMs += 100;
      const exec = vi.spyOn(database, 'exec');
      const result = held.complete();
      await waitFor(() => expect(exec.mock.calls.length).toBeGreaterThan(2));
      writer.exec('COMMIT');
      expect(await result).toBe('processed');
    });

    test('whose end fails for another reason than a lock is not retried', async () => {
      const { store, database } = await scene.open();
      const held = await hold(store, first);
      database.exec('DROP TABLE payment_store_changes');
      await expect(held.complete()).rejects.toMatchObject({
        code: 'MISSING_TABLES',
        cause: { message: expect.stringContaining('no such table') },
      });
    });

    test('that was taken over aborts the signal of the work', async () => {
      const [one, other] = [await scene.store({ leaseMs: 150 }), await scene.store()];
      const late = await hold(one, first);
      const aborted = once(late.signal, 'abort');
      scene.nowMs += 150;
      const successor = await hold(other, first);
      await aborted;
      expect(late.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
      await expect(late.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      await successor.complete();
    });

    test('that is busy settles the payment all the same, and so does a duplicate', async () => {
      const database = scene.connect();
      const store = sqliteStore(database, { client: unusedClient, now: scene.now });
      await store.setup();
      await store.record(order('order-1'), { tx: undefined });
      const held = await hold(store, first);
      expect(await store.get('order-1')).toMatchObject({
        state: 'created',
        payment: first.payment,
      });
      const paid = changeAt('2026-01-31T12:00:02Z', { status: 'paid' });
      expect(await deliver(await scene.store(), paid)).toBe('busy');
      expect(readAll(database, 'SELECT paid_by FROM payment_store_payments')).toEqual([
        'payment-1',
      ]);
      await held.complete();

      await deliver(store, changeAt('2026-01-31T12:00:00Z', { order: 'order-2' }));
      await store.record(order('order-2'), { tx: undefined });
      const again = changeAt('2026-01-31T12:00:00Z', { order: 'order-2' });
      expect(await deliver(store, again)).toBe('duplicate');
      expect(await store.get('order-2')).toMatchObject({ state: 'created' });
    });

    test('leaves a duplicate that says nothing new without the write lock', async () => {
      const { store, database } = await scene.open();
      await deliver(store, second);
      const exec = vi.spyOn(database, 'exec');
      expect(await deliver(store, second)).toBe('duplicate');
      expect(exec).not.toHaveBeenCalled();
    });
  });
});
