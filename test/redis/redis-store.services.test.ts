import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { redisStore } from '../../src/redis/redis-store.js';
import { hasRedis } from '../services/start-redis.js';
import type { ThrowawayServer } from '../services/throwaway-server.js';
import { changeAt, deliver, hold } from '../store/held-delivery.js';
import {
  type ClientKind,
  type ConnectedClient,
  clientKinds,
  clusterKinds,
  redisUrl,
} from './clients.js';
import { startClusterServer } from './cluster-server.js';

const RETENTION_MS = 1_000_000;

const first = changeAt('2026-01-31T12:00:00Z');
const second = changeAt('2026-01-31T12:00:01Z');

describe.skipIf(!process.env['REDIS_URL']).each(clientKinds)('with $name', (kind) => {
  behavesAsRedisStore(kind, () => redisUrl);
});

describe.skipIf(!hasRedis)('on a cluster', () => {
  let server: ThrowawayServer | undefined;
  beforeAll(async () => {
    server = await startClusterServer();
  });
  afterAll(() => server?.stop());

  describe.each(clusterKinds)('with $name', (kind) => {
    behavesAsRedisStore(kind, () => server?.url ?? '');
  });
});

function behavesAsRedisStore(kind: ClientKind, getUrl: () => string): void {
  let admin: Redis;
  let connected: ConnectedClient;
  let prefix: string;
  let hash: string;

  beforeAll(async () => {
    admin = new Redis(getUrl());
    connected = await kind.connect(getUrl());
  });
  afterAll(() => {
    connected.close();
    admin.disconnect();
  });
  beforeEach(() => {
    prefix = `test-redis-store-${randomUUID()}:`;
    hash = keyOf('order-1');
  });
  afterEach(async () => {
    const keys = await admin.keys(`${kind.keyPrefix ?? ''}${prefix}*`);
    // One at a time: on a cluster they lie in several slots.
    for (const key of keys) await admin.del(key);
  });

  function keyOf(reference: string): string {
    return `${kind.keyPrefix ?? ''}${prefix}{${reference}}`;
  }

  function openStore({ leaseMs = 30_000 } = {}) {
    return redisStore(connected.client, { prefix, leaseMs, retentionMs: RETENTION_MS });
  }

  /** As time does, without waiting for it. */
  async function expireLease(): Promise<void> {
    expect(await admin.hset(hash, 'until', '1')).toBe(0);
  }

  describe('what is stored', () => {
    test('of a pending claim is one hash without an expiry', async () => {
      const held = await hold(openStore(), first);
      expect(await admin.hgetall(hash)).toEqual({
        owner: expect.stringMatching(/^[0-9a-f-]{36}$/),
        until: expect.stringMatching(/^\d{13}$/),
        lease: '30000',
      });
      expect(await admin.pttl(hash)).toBe(-1);
      await held.complete();
    });

    test('of a processed change is its key and time, for retentionMs', async () => {
      await deliver(openStore(), first);
      expect(await admin.hgetall(hash)).toEqual({
        // Twice the microseconds: at one instant, paid is one more.
        'watermark:payment-1': '3539721600000000',
        [`done:payment-1 ${first.key}`]: expect.any(String),
      });
      const ttl = await admin.pttl(hash);
      expect(ttl).toBeGreaterThan(RETENTION_MS / 2);
      expect(ttl).toBeLessThanOrEqual(RETENTION_MS);
    });

    test('loses its expiry while a later change is pending, and gets a new one', async () => {
      const store = openStore();
      await deliver(store, first);
      await admin.pexpire(hash, RETENTION_MS / 10);
      const held = await hold(store, second);
      expect(await admin.pttl(hash)).toBe(-1);
      expect(await held.complete()).toBe('processed');
      expect(await admin.pttl(hash)).toBeGreaterThan(RETENTION_MS / 2);
    });

    test('is nothing after the first work for an order failed', async () => {
      const store = openStore();
      const error = new Error('the work failed');
      const held = await hold(store, first);
      await expect(held.fail(error)).rejects.toBe(error);
      expect(await admin.exists(hash)).toBe(0);
      expect(await deliver(store, first)).toBe('processed');
    });

    test.each([
      'payment reference with blanks',
      '{braces}',
      '}{',
      'ünïcödé 💶',
      'nul\u0000nul',
      'x'.repeat(10_240),
    ])('takes the odd references and key %#', async (odd) => {
      const store = openStore();
      const changeOf = (more: object) =>
        changeAt('2026-01-31T12:00:00Z', { order: odd, payment: odd, key: odd, ...more });
      expect(await deliver(store, changeOf({}))).toBe('processed');
      expect(await deliver(store, changeOf({}))).toBe('duplicate');
      for (const other of [{ key: `${odd}2` }, { payment: `${odd}2` }, { order: `${odd}2` }]) {
        expect(await deliver(store, changeOf(other))).toBe('processed');
      }
      const keys = await admin.keys(`${kind.keyPrefix ?? ''}${prefix}*`);
      expect(keys).toHaveLength(2);
      for (const key of keys) {
        expect(key).toMatch(/^[^{}]*\{[!-z|~]{1,128}\}$/);
        for (const field of await admin.hkeys(key)) {
          expect(field).toMatch(/^(watermark:[!-~]{1,128}|done:[!-~]{1,128} [!-~]{1,128})$/);
        }
      }
    });
  });

  describe('the payment that has paid the order', () => {
    const paid = (payment: string) =>
      changeAt('2026-01-31T12:00:00Z', { payment, status: 'paid', key: `paid-${payment}` });

    test('is kept from its first delivery on, with an expiry, even if its work fails', async () => {
      const store = openStore();
      const held = await hold(store, paid('payment-1'));
      expect(await deliver(store, paid('payment-2'))).toBe('busy');
      await expect(held.fail(new Error('the work failed'))).rejects.toThrow('the work failed');
      expect(await admin.hgetall(hash)).toEqual({
        paid: 'payment-1',
        'paid:payment-1': '3539721600000001',
        'paid:payment-2': '3539721600000001',
      });
      const ttl = await admin.pttl(hash);
      expect(ttl).toBeGreaterThan(RETENTION_MS / 2);
      expect(ttl).toBeLessThanOrEqual(RETENTION_MS);
    });

    test('is taken from an older change that is busy, without a change of the expiry', async () => {
      const store = openStore();
      await deliver(store, second);
      const held = await hold(store, changeAt('2026-01-31T12:00:02Z'));
      await admin.pexpire(hash, RETENTION_MS / 10);
      expect(await deliver(store, paid('payment-1'))).toBe('busy');
      expect(await admin.hget(hash, 'paid')).toBe('payment-1');
      expect(await admin.pttl(hash)).toBeLessThanOrEqual(RETENTION_MS / 10);
      await held.complete();
    });
  });

  describe('a claim', () => {
    test('may be finished after its lease expired, if no other holder took over', async () => {
      const store = openStore();
      const slow = await hold(store, first);
      await expireLease();
      expect(await slow.complete()).toBe('processed');
      expect(await deliver(store, first)).toBe('duplicate');
    });

    test('that was taken over is lost also when the successor failed and the hash was deleted', async () => {
      const store = openStore();
      const late = await hold(store, first);
      await expireLease();
      const successor = await hold(store, first);
      await expect(successor.fail(new Error('the successor failed'))).rejects.toThrow(
        'the successor failed',
      );
      expect(await admin.exists(hash)).toBe(0);
      const third = await hold(store, first);
      await expect(late.complete()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await third.complete()).toBe('processed');
    });

    test('is renewed while the work runs', async () => {
      // Long enough for a machine that stands still for a second.
      const held = await hold(openStore({ leaseMs: 1_500 }), first);
      const until = async () => Number(await admin.hget(hash, 'until'));
      for (const _ of [1, 2]) {
        const before = await until();
        await expect.poll(until, { timeout: 10_000 }).toBeGreaterThan(before);
      }
      expect(await admin.pttl(hash)).toBe(-1);
      expect(held.signal.aborted).toBe(false);
      expect(await held.complete()).toBe('processed');
    });
  });

  describe('a claim that seems to live for an hour after the clock of the server stepped back', () => {
    const HOUR_MS = 3_600_000;
    const stepBack = () => admin.hincrby(hash, 'until', HOUR_MS);
    const secondsLeft = async () => {
      const [seconds] = await admin.time();
      return Number(await admin.hget(hash, 'until')) / 1_000 - Number(seconds);
    };

    test('lives for as long as it was granted, from the next delivery on', async () => {
      await hold(openStore({ leaseMs: 60_000 }), first);
      await stepBack();
      expect(await deliver(openStore({ leaseMs: 1_000 }), first)).toBe('busy');
      expect(await secondsLeft()).toBeGreaterThan(50);
      expect(await secondsLeft()).toBeLessThan(62);
      await expireLease();
      expect(await deliver(openStore(), first)).toBe('processed');
    });

    test('is still that of a holder that lives', async () => {
      const held = await hold(openStore(), first);
      await stepBack();
      expect(await deliver(openStore(), first)).toBe('busy');
      expect(await held.complete()).toBe('processed');
    });
  });

  test('rejects with what Redis said when it refuses a command', async () => {
    await admin.set(hash, 'not a hash');
    await expect(deliver(openStore(), first)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('WRONGTYPE'),
      cause: expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
    });
  });
}
