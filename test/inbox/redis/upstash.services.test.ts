import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { Redis as UpstashRedis } from '@upstash/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisInbox } from '../../../src/redis/redis-inbox.js';
import { deliver } from '../held-delivery.js';
import { redisUrl } from './clients.js';
import { type HttpFront, startHttpFront } from './http-front.js';

const prefix = `test-upstash-${randomUUID()}:`;
const event = {
  key: 'key-1',
  paymentReference: 'payment-1',
  occurredAt: new Date('2026-01-31T12:00:00Z'),
  processStale: false,
};

describe.skipIf(!redisUrl)('over HTTP', () => {
  const admin = new Redis(redisUrl, { lazyConnect: true });
  let front: HttpFront;
  const open = (options = {}) =>
    redisInbox(
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
      const looksLikeJson = { ...event, paymentReference: text, key: text };
      expect(await deliver(open(), looksLikeJson)).toBe('processed');
      expect(await deliver(redisInbox(admin, { prefix }), looksLikeJson)).toBe('duplicate');
      expect(await deliver(open(), looksLikeJson)).toBe('duplicate');
    },
  );

  test.each([true, false])(
    'a refusal names no command, with automatic pipelines: %s',
    async (enableAutoPipelining) => {
      await admin.set(`${prefix}{payment-2}`, 'not a hash');
      const refused = { ...event, paymentReference: 'payment-2' };
      const error = await deliver(open({ enableAutoPipelining }), refused).catch((e) => e);
      expect(error).toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('WRONGTYPE'),
      });
      expect(inspect(error)).not.toContain('payment-2');
    },
  );

  test('a wrong token fails, and is in no error', async () => {
    const error = await deliver(open({ token: 'planted-token' }), event).catch((e) => e);
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
    const inbox = redisInbox(client, { prefix, commandTimeoutMs: 300 });
    await expect(deliver(inbox, event)).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
  });

  test.each([true, false])(
    'a signal of the client that is aborted runs no work, with automatic pipelines: %s',
    async (enableAutoPipelining) => {
      const inbox = open({ enableAutoPipelining, signal: AbortSignal.abort() });
      const delivered = inbox.process(event, () => Promise.reject(new Error('the work was run')));
      await expect(delivered).rejects.toMatchObject({
        code: enableAutoPipelining ? 'STORE_FAILED' : 'INVALID_OPTION',
      });
    },
  );
});
