import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RedisClient } from '../../src/redis/client.js';
import { redisStore } from '../../src/redis/redis-store.js';
import { COMMANDS } from '../../src/redis/scripts.js';
import { hasRedis, startRedis } from '../services/start-redis.js';
import type { ThrowawayServer } from '../services/throwaway-server.js';
import { changeAt, deliver, hold } from '../store/held-delivery.js';
import { waitFor } from '../wait-for.js';

const change = changeAt('2026-01-31T12:00:00Z');
const PLANTED = 'planted-wrong-password';

/** Everything that a log could show of an error. */
function show(error: unknown): string {
  return [
    inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    JSON.stringify(error),
    error instanceof Error ? error.stack : '',
  ].join('\n');
}

async function failureOf(client: RedisClient): Promise<unknown> {
  const store = redisStore(client, { commandTimeoutMs: 2_000 });
  return deliver(store, change).then(
    (outcome) => expect.unreachable(outcome),
    (error: unknown) => error,
  );
}

describe.skipIf(!hasRedis)('with the wrong password', () => {
  let server: ThrowawayServer;
  beforeAll(async () => {
    server = await startRedis();
    const admin = new Redis(server.url);
    await admin.config('SET', 'requirepass', 'the right password');
    admin.disconnect();
  });
  afterAll(() => server.stop());

  test.each([2, 3] as const)('no error contains it with ioredis on RESP%i', async (protocol) => {
    const client = new Redis(server.url, { password: PLANTED, protocol });
    client.on('error', () => {});
    const error = await failureOf(client);
    client.disconnect();
    expect(error).toMatchObject({ name: 'StoreError', code: 'STORE_FAILED' });
    expect(show(error)).toMatch(/NOAUTH|WRONGPASS/);
    expect(show(error)).not.toContain(PLANTED);
    expect(show(error)).not.toMatch(/payment-1|order-1/);
  });

  test.each([2, 3] as const)('no error contains it with node-redis on RESP%i', async (RESP) => {
    const client = createClient({ url: server.url, password: PLANTED, RESP });
    client.on('error', () => {});
    client.connect().catch(() => {});
    const error = await failureOf(client);
    client.destroy();
    expect(error).toMatchObject({ name: 'StoreError' });
    expect(show(error)).not.toContain(PLANTED);
    expect(show(error)).not.toMatch(/payment-1|order-1/);
  });
});

describe.skipIf(!hasRedis)('with a user of few rights', () => {
  const commands = COMMANDS.split(/, | and /);
  const options = { prefix: 'shop:', leaseMs: 3_000, commandTimeoutMs: 1_500 };
  const paid = changeAt('2026-01-31T12:00:00Z', { status: 'paid' });
  let server: ThrowawayServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  /** A connection of a user with these rights alone, to a server without data and scripts. */
  async function connectAs(...rights: readonly string[]): Promise<Redis> {
    await admin.flushall();
    await admin.script('FLUSH');
    await admin.call('ACL', 'SETUSER', 'shop', 'reset', 'on', '>word', ...rights);
    return new Redis(server.url, { username: 'shop', password: 'word', enableReadyCheck: false });
  }
  const allowed = (names: readonly string[]) => names.map((name) => `+${name.toLowerCase()}`);

  test('the commands that the error names are enough, on the keys with the prefix', async () => {
    const client = await connectAs('~shop:*', ...allowed(commands));
    const store = redisStore(client, options);
    const failed = await hold(store, changeAt('2026-01-31T12:00:01Z', { order: 'order-2' }));
    const until = () => admin.hget('shop:{order-2}', 'until');
    const before = await until();
    await waitFor(async () => expect(await until()).not.toBe(before), 10_000);
    await expect(failed.fail(new Error('out of stock'))).rejects.toThrow('out of stock');
    expect(await admin.exists('shop:{order-2}')).toBe(0);
    expect(await deliver(store, paid)).toBe('processed');
    expect(await deliver(store, paid)).toBe('duplicate');
    client.disconnect();
  });

  test.each(commands)('the error names all commands when %s is missing', async (missing) => {
    const rest = allowed(commands.filter((name) => name !== missing));
    const client = await connectAs('~shop:*', ...rest);
    const error = await deliver(redisStore(client, options), paid).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining(
        `. The user of the client must have the right to run ${COMMANDS}, on all keys that begin with prefix`,
      ),
    });
    client.disconnect();
  });

  test('the error names the keys when they are missing', async () => {
    const client = await connectAs('~other:*', ...allowed(commands));
    await expect(deliver(redisStore(client, options), paid)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('on all keys that begin with prefix'),
    });
    client.disconnect();
  });
});

test.each([
  "NOPERM this user has no permissions to run the 'eval' command",
  "Command failed: NOPERM User shop has no permissions to run the 'eval' command",
  "ERR ACL failure in script: User shop has no permissions to run the 'hset' command",
  "ERR unknown command 'eval', with args beginning with: ",
  'ERR unknown command `EVAL`',
])('an error says which rights are needed when Redis says: %s', async (message) => {
  expect(await failureWith(new Error(message))).toMatchObject({
    message: expect.stringContaining(`must have the right to run ${COMMANDS}`),
  });
});

/** The error that a delivery rejects with when the client rejects with this. */
function failureWith(reason: unknown): Promise<unknown> {
  return failureOf({ eval: () => Promise.reject(reason) });
}

test("the cause has only the name, message and code of the client's error", async () => {
  class ReplyError extends Error {
    override name = 'ReplyError';
    code = 'ECONNRESET';
    command = { name: 'hello', args: ['3', 'AUTH', 'default', PLANTED] };
    previousErrors = [new Error(PLANTED)];
  }
  const error = await failureWith(new ReplyError('read ECONNRESET'));
  expect(error).toMatchObject({
    code: 'STORE_FAILED',
    message: 'The request to Redis failed: ReplyError: read ECONNRESET',
    cause: { name: 'ReplyError', message: 'read ECONNRESET', code: 'ECONNRESET' },
  });
  expect(show(error)).not.toContain(PLANTED);
});

test.each([
  `ERR unknown command \`HELLO\`, with args beginning with: \`3\`, \`AUTH\`, \`default\`, \`${PLANTED}\`, `,
  `ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' '${PLANTED}' `,
])('no argument that the server repeats is in an error: %s', async (message) => {
  const error = await failureWith(new Error(message));
  expect(error).toMatchObject({ message: expect.stringMatching(/unknown command ['`]HELLO['`]$/) });
  expect(show(error)).not.toContain(PLANTED);
});

test.each([undefined, null, 'text', 7])(
  'a rejection with %j becomes STORE_FAILED',
  async (reason) => {
    expect(await failureWith(reason)).toMatchObject({ code: 'STORE_FAILED' });
  },
);
