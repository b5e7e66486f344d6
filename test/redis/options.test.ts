import { Redis as UpstashRedis } from '@upstash/redis';
import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import type { IoredisClient } from '../../src/redis/client.js';
import { redisStore, resolveRedisStoreOptions } from '../../src/redis/redis-store.js';
import { CLAIM } from '../../src/redis/scripts.js';
import { changeAt } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';

const never = () => new Promise<never>(() => {});
const client = { eval: never };
const upstash = new UpstashRedis({ url: 'https://redis.invalid', token: 't' });
const change = changeAt('2026-01-31T12:00:00Z');

test.each([
  [{ prefix: 'a{b' }, 'prefix', 'must be text without braces; received a string of 3 characters'],
  [{ prefix: 1 }, 'prefix', 'received a number'],
  [{ leaseMs: 99 }, 'leaseMs', 'from 100 to 2147483647; received 99'],
  [{ renewForMs: 0 }, 'renewForMs', 'from 1; received 0'],
  [{ retentionMs: 0 }, 'retentionMs', 'from 1; received 0'],
  [{ commandTimeoutMs: 0 }, 'commandTimeoutMs', 'from 1 to 2147483647; received 0'],
  [{ commandTimeoutMs: 30_000 }, 'commandTimeoutMs', 'must be less than leaseMs (30000)'],
  [null, 'options', 'must be an object with prefix, leaseMs'],
  [{ lease: 1_000 }, 'lease', 'lease is not a known option; use leaseMs'],
])('refuses the options %j', (options, option, says) => {
  expect(() => redisStore(client, options as object)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option,
      message: expect.stringContaining(says),
    }),
  );
});

test('keeps its keys apart from others by default', () => {
  expect(resolveRedisStoreOptions({})).toMatchObject({
    prefix: 'merchant-payments:',
    leaseMs: 30_000,
  });
});

test.each([
  [{}, 5_000],
  [{ leaseMs: 10_000 }, 5_000],
  [{ leaseMs: 9_999 }, 4_999],
  [{ leaseMs: 100 }, 50],
  [{ leaseMs: 100, commandTimeoutMs: 99 }, 99],
])('waits for an answer, with the options %j, for %i ms', (options, commandTimeoutMs) => {
  expect(resolveRedisStoreOptions(options)).toMatchObject({ commandTimeoutMs });
});

test.each([
  [undefined, 'received nothing'],
  [null, 'received null'],
  ['redis://127.0.0.1', 'received a string'],
  [{ get: never, set: never }, 'received an object without eval'],
  // As a pipeline of Upstash's and redis 3 have them.
  [
    { eval: never, get: never },
    'received an object without defineCommand (ioredis) or createScript (@upstash/redis)',
  ],
])('refuses %j as a client', (wrong, says) => {
  expect(() => redisStore(wrong as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option: 'client',
      message: expect.stringContaining(says),
    }),
  );
});

test('takes a wrapper with the one method alone, and clients of ioredis and Upstash', () => {
  const ioredis = new Redis({ lazyConnect: true });
  for (const one of [client, ioredis, new Proxy(ioredis, {}), upstash]) redisStore(one);
});

test.each(['pipeline', 'multi'] as const)("refuses Upstash's %s", (kind) => {
  expect(() => redisStore(upstash[kind]() as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', option: 'client' }),
  );
});

test.each([
  ['a number', 1],
  ['a big integer', 1n],
  ['text', '1'],
  ['bytes', Buffer.from('1')],
  ['plain bytes', Uint8Array.of(0x31)],
])('takes the answer of a script as %s', async (_, one) => {
  const asOne: IoredisClient = {
    eval: async (script) => {
      if (script !== CLAIM) return one;
      const text = 'claimed:01';
      return typeof one === 'object' ? new TextEncoder().encode(text) : text;
    },
  };
  const work = vi.fn(async () => {});
  expect(await outcomeOf(redisStore(asOne), change, work)).toBe('processed');
  expect(work).toHaveBeenCalledWith(
    expect.objectContaining({ current: false, secondPayment: true }),
  );
});

test.each([0, '0', Buffer.from('0'), true, null, 'OK', ['1', '1']])(
  'does not take the answer %o to a finish for yes',
  async (answer) => {
    const wrong: IoredisClient = {
      eval: async (script) => (script === CLAIM ? 'claimed:10' : answer),
    };
    const delivered = outcomeOf(redisStore(wrong), change, async () => {});
    await expect(delivered).rejects.toMatchObject({ code: 'LEASE_LOST' });
  },
);

test.each([1, null, 'OK', '__proto__', ['claimed:10'], 'claimed:', 'claimed:20', 'claimed:010'])(
  'runs no work when the answer to a claim is %o',
  async (answer) => {
    const wrong: IoredisClient = { eval: async () => answer };
    const work = vi.fn(async () => {});
    const delivered = outcomeOf(redisStore(wrong), change, work);
    await expect(delivered).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'client' });
    expect(work).not.toHaveBeenCalled();
  },
);

test('refuses a pipeline, whose methods return itself, when it is used', async () => {
  const pipeline = { eval: (): unknown => pipeline };
  const store = redisStore(pipeline as never);
  const delivered = outcomeOf(store, change, () => Promise.reject(new Error('the work was run')));
  await expect(delivered).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    option: 'client',
    message: expect.stringMatching(/^client must answer EVAL with what the script returns/),
  });
});
