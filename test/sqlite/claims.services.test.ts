import { describe, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { changeAt, deliver, hold } from '../store/held-delivery.js';
import { order } from '../store/orders.js';
import { outcomeOf } from '../store/outcome-of.js';
import { unusedClient } from '../store/unused-client.js';
import { waitFor } from '../wait-for.js';
import { drivers } from './open-database.js';
import { count, LEASE_MS, readAll, Scene, untilMs } from './scene.js';

const first = changeAt('2026-01-31T12:00:00Z');
const second = changeAt('2026-01-31T12:00:01Z');

describe.each(drivers)('with $name', ({ open }) => {
  const scene = new Scene(open);

  describe('a claim', () => {
    test('holds no transaction open while the work runs, which may make its own', async () => {
      const { store, database } = await scene.open();
      await outcomeOf(store, first, async () => {
        expect(database.inTransaction ?? database.isTransaction).toBe(false);
        database.exec('BEGIN; CREATE TABLE orders (id); INSERT INTO orders VALUES (7); COMMIT');
      });
      expect(readAll(database, 'SELECT id FROM orders').map(Number)).toEqual([7]);
      expect(await deliver(store, first)).toBe('duplicate');
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
