import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { Redis as UpstashRedis } from '@upstash/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisStore } from '../../src/redis/redis-store.js';
import { changeAt, deliver } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { redisUrl } from './clients.js';
import { type HttpFront, startHttpFront } from './http-front.js';

const prefix = `test-upstash-${randomUUID()}:`;
const change = changeAt('2026-01-31T12:00:00Z');

describe.skipIf(!redisUrl)('over HTTP', () => {
  const admin = new Redis(redisUrl, { lazyConnect: true });
  let front: HttpFront;
  const open = (options = {}) =>
    redisStore(
      new UpstashRedis({
        url: front.url,
        token: front.token,
        enableTelemetry: false,
        ...options,
      }),
      { prefix },
    );

  beforeAll(async () => {
    await admin.connect();
    front = await startHttpFront(redisUrl);
  });
  afterAll(async () => {
    const keys = await admin.keys(`${prefix}*`);
    if (keys.length > 0) await admin.unlink(...keys);
    admin.disconnect();
    front.close();
  });

  // Each is read by the client as JSON where it appears in an answer.
  test.each(['1', 'true', 'null', '"text"', '1e400', '12345678901234567890', '{"a":1}', '[1]'])(
    'the reference and key %s are kept as they are',
    async (text) => {
      const looksLikeJson = changeAt('2026-01-31T12:00:00Z', {
        order: text,
        payment: text,
        key: text,
      });
      expect(await deliver(open(), looksLikeJson)).toBe('processed');
      expect(await deliver(redisStore(admin, { prefix }), looksLikeJson)).toBe('duplicate');
      expect(await deliver(open(), looksLikeJson)).toBe('duplicate');
    },
  );

  test.each([true, false])(
    'a refusal names no command, with automatic pipelines: %s',
    async (enableAutoPipelining) => {
      await admin.set(`${prefix}{order-2}`, 'not a hash');
      const refused = changeAt('2026-01-31T12:00:00Z', { order: 'order-2' });
      const error = await deliver(open({ enableAutoPipelining }), refused).catch((e) => e);
      expect(error).toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('WRONGTYPE'),
      });
      expect(inspect(error)).not.toMatch(/order-2|payment-1/);
    },
  );

  test('a wrong token fails, and is in no error', async () => {
    const error = await deliver(open({ token: 'planted-token' }), change).catch((e) => e);
    expect(error).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('Unauthorized'),
    });
    expect(inspect(error)).not.toContain('planted-token');
  });

  test('a front that is gone fails within commandTimeoutMs', async () => {
    const gone = await startHttpFront(redisUrl);
    gone.close();
    const client = new UpstashRedis({ url: gone.url, token: gone.token });
    const store = redisStore(client, { prefix, commandTimeoutMs: 300 });
    await expect(deliver(store, change)).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
  });

  test.each([true, false])(
    'a signal of the client that is aborted runs no work, with automatic pipelines: %s',
    async (enableAutoPipelining) => {
      const store = open({ enableAutoPipelining, signal: AbortSignal.abort() });
      const delivered = outcomeOf(store, change, () =>
        Promise.reject(new Error('the work was run')),
      );
      await expect(delivered).rejects.toMatchObject({
        code: enableAutoPipelining ? 'STORE_FAILED' : 'INVALID_OPTION',
      });
    },
  );
});
