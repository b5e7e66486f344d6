import { expect, test } from 'vitest';
import { resolveOptions } from '../../../src/inbox/redis/options.js';
import { redisInbox } from '../../../src/inbox/redis/redis-inbox.js';

const never = () => new Promise<never>(() => {});
const client = { evalsha: never, eval: never };

test.each([
  [{ prefix: 'a{b' }, 'prefix', 'must be text without braces, but one with braces came'],
  [{ prefix: 'a}' }, 'prefix', 'but one with braces came'],
  [{ prefix: 1 }, 'prefix', 'but a number came'],
  [{ leaseMs: 99 }, 'leaseMs', 'from 100 to 2147483647, but 99 came'],
  [{ leaseMs: 2_147_483_648 }, 'leaseMs', 'from 100 to 2147483647'],
  [{ renewForMs: 0 }, 'renewForMs', 'from 1, but 0 came'],
  [{ renewForMs: 1.5 }, 'renewForMs', 'a whole number of milliseconds from 1, but 1.5 came'],
  [{ renewForMs: '600000' }, 'renewForMs', 'must be a whole number of milliseconds from 1'],
  [{ retentionMs: 0 }, 'retentionMs', 'from 1, but 0 came'],
  [{ commandTimeoutMs: 0 }, 'commandTimeoutMs', 'from 1 to 2147483647, but 0 came'],
  [{ commandTimeoutMs: 2_147_483_648 }, 'commandTimeoutMs', 'from 1 to 2147483647'],
  [
    { commandTimeoutMs: 30_000 },
    'commandTimeoutMs',
    'must be less than leaseMs (30000), but 30000 came: lower it, to half of leaseMs or less, or raise leaseMs',
  ],
  [{ leaseMs: 1_000, commandTimeoutMs: 1_001 }, 'commandTimeoutMs', 'less than leaseMs (1000)'],
  [null, 'options', 'must be an object with prefix, leaseMs'],
])('refuses the options %j', (options, option, says) => {
  expect(() => redisInbox(client, options as object)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option,
      message: expect.stringContaining(says),
    }),
  );
});

test('keeps its keys apart from others by default', () => {
  expect(resolveOptions({})).toMatchObject({ prefix: 'merchant-payments:', leaseMs: 30_000 });
});

test.each([
  [{}, 5_000],
  [{ leaseMs: 10_000 }, 5_000],
  [{ leaseMs: 9_999 }, 4_999],
  [{ leaseMs: 100 }, 50],
  [{ leaseMs: 100, commandTimeoutMs: 99 }, 99],
])('waits for an answer, with the options %j, for %i ms', (options, commandTimeoutMs) => {
  expect(resolveOptions(options)).toMatchObject({ commandTimeoutMs });
});

test.each([
  [undefined, 'but nothing'],
  [null, 'but null'],
  [{}, 'but an object without evalsha or evalSha came'],
  ['redis://127.0.0.1', 'but a string'],
  [{ evalsha: never }, 'but an object'],
  [{ get: never, set: never }, 'but an object'],
])('refuses %j as a client', (wrong, says) => {
  expect(() => redisInbox(wrong as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option: 'client',
      message: expect.stringContaining(says),
    }),
  );
});

test('refuses a pipeline, whose methods return itself, when it is used', async () => {
  const pipeline = { evalsha: () => pipeline, eval: () => pipeline };
  const inbox = redisInbox(pipeline as never);
  const event = { key: 'k', paymentReference: 'p', occurredAt: new Date(0), processStale: false };
  const delivered = inbox.process(event, () => Promise.reject(new Error('the work was run')));
  await expect(delivered).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    option: 'client',
    message: expect.stringMatching(/^client must answer EVALSHA with what the script returns/),
  });
});
