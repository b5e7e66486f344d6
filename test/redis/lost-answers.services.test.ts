import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { IoredisClient } from '../../src/redis/client.js';
import { redisStore } from '../../src/redis/redis-store.js';
import { RELEASE } from '../../src/redis/scripts.js';
import { changeAt, deliver, hold } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { waitFor } from '../wait-for.js';
import { type ConnectedClient, plainKinds, redisUrl } from './clients.js';
import { type PausableProxy, startPausableProxy } from './pausable-proxy.js';

const change = changeAt('2026-01-31T12:00:00Z');

let admin: Redis;
let prefix: string;
let hash: string;

beforeAll(() => {
  admin = new Redis(redisUrl);
});
afterAll(() => admin.disconnect());
beforeEach(() => {
  prefix = `test-redis-store-${randomUUID()}:`;
  hash = `${prefix}{order-1}`;
});
afterEach(async () => {
  await admin.del(hash);
});

describe.skipIf(!process.env['REDIS_URL']).each(plainKinds)('with $name', (kind) => {
  let proxy: PausableProxy;
  let connected: ConnectedClient;

  beforeEach(async () => {
    proxy = await startPausableProxy(redisUrl);
    connected = await kind.connect(proxy.url);
    // The scripts are there, so that what is held back is the command itself.
    await deliver(redisStore(connected.client, { prefix }), change);
    await admin.del(hash);
  });
  afterEach(() => {
    connected.close();
    proxy.close();
  });

  const openImpatient = () =>
    redisStore(connected.client, { prefix, leaseMs: 1_000, commandTimeoutMs: 400 });
  const openPatient = () => redisStore(connected.client, { prefix });

  test('a claim that is not answered in time rejects and runs no work', async () => {
    const work = vi.fn(async () => {});
    proxy.holdCommands();
    await expect(outcomeOf(openImpatient(), change, work)).rejects.toMatchObject({
      name: 'StoreError',
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining('within 400 ms (commandTimeoutMs)'),
    });
    proxy.resume();
    await connectedAgain();
    expect(work).not.toHaveBeenCalled();
  });

  test('a claim that is granted after that is released', async () => {
    proxy.holdReplies();
    await expect(deliver(openImpatient(), change)).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    await waitFor(async () => expect(await admin.hget(hash, 'owner')).not.toBeNull());
    proxy.resume();
    await waitFor(async () => expect(await admin.exists(hash)).toBe(0));
    expect(await deliver(openPatient(), change)).toBe('processed');
  });

  test('a finish that is not answered while the lease lives rejects, and holds once it is carried out', async () => {
    const held = await hold(openImpatient(), change);
    proxy.holdCommands();
    await expect(held.complete()).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    proxy.resume();
    expect(await deliver(openPatient(), change)).toBe('duplicate');
  });

  test('a finish whose connection breaks is sent again, and the work runs once', async () => {
    const held = await hold(openPatient(), change);
    proxy.loseNextCommand();
    expect(await held.complete()).toBe('processed');
    expect(await deliver(openPatient(), change)).toBe('duplicate');
  });

  test("a claim that is answered late and can't be renewed is released", async () => {
    const store = redisStore(connected.client, { prefix, leaseMs: 1_000, commandTimeoutMs: 999 });
    const work = vi.fn(async () => {});
    proxy.holdReplies();
    const result = outcomeOf(store, change, work);
    await waitFor(async () => expect(await admin.hget(hash, 'owner')).not.toBeNull());
    // A newer change of another process, once the claim has run out: as time does, without waiting.
    await admin.hset(hash, 'until', 1);
    const newer = changeAt('2026-01-31T12:00:01Z');
    const successor = await hold(redisStore(admin, { prefix }), newer);
    const later = performance.now() + 600;
    vi.spyOn(performance, 'now').mockImplementation(() => later);
    proxy.resume();
    expect(await result).toBe('busy');
    expect(work).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    expect(await successor.complete()).toBe('processed');
  });

  test('rejects with the error of the work, even if the release times out', async () => {
    const held = await hold(openImpatient(), change);
    proxy.holdCommands();
    await expect(held.fail(new Error('the work failed'))).rejects.toThrow('the work failed');
  });

  /** Everything that was kept back has been answered when this is. */
  async function connectedAgain(): Promise<void> {
    await deliver(openPatient(), changeAt('2026-01-31T12:00:00Z', { order: 'order-2' }));
    await admin.del(`${prefix}{order-2}`);
  }
});

test.skipIf(!process.env['REDIS_URL']).each<[string, (url: string) => ConnectedClient]>([
  [
    'ioredis',
    (url) => {
      const client = new Redis(url);
      client.on('error', () => {});
      return { client, close: () => client.disconnect() };
    },
  ],
  [
    'node-redis',
    (url) => {
      const client = createClient({ url });
      client.on('error', () => {});
      client.connect().catch(() => {});
      return { client, close: () => client.destroy() };
    },
  ],
])('a delivery rejects with %s, which a server accepts and never answers', async (_, open) => {
  const proxy = await startPausableProxy(redisUrl);
  proxy.holdReplies();
  const { client, close } = open(proxy.url);
  const delivered = deliver(redisStore(client, { prefix, commandTimeoutMs: 400 }), change);
  await expect(delivered).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
  close();
  proxy.close();
});

describe.skipIf(!process.env['REDIS_URL'])('a client', () => {
  let ioredis: Redis;
  beforeAll(() => {
    ioredis = new Redis(redisUrl);
  });
  afterAll(() => ioredis.disconnect());

  test('may send a command again whose answer it did not get', async () => {
    const twice: IoredisClient = {
      async eval(...command) {
        await ioredis.eval(...command);
        return ioredis.eval(...command);
      },
    };
    expect(await deliver(redisStore(twice, { prefix }), change)).toBe('processed');
    expect(await deliver(redisStore(twice, { prefix }), change)).toBe('duplicate');
  });

  test('that fails after the claim was granted leaves the change free', async () => {
    const lost = new Error('the connection was lost');
    let losing = true;
    const client: IoredisClient = {
      async eval(...command) {
        const answer = await ioredis.eval(...command);
        if (!losing) return answer;
        losing = false;
        throw lost;
      },
    };
    await expect(deliver(redisStore(client, { prefix }), change)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: expect.objectContaining({ message: lost.message }),
    });
    await waitFor(async () => expect(await admin.exists(hash)).toBe(0));
    expect(await deliver(redisStore(client, { prefix }), change)).toBe('processed');
  });

  test.each([1, 3])('that fails to finish %i times is asked again', async (failures) => {
    const { client, failNext } = openFailing();
    const held = await hold(redisStore(client, { prefix }), change);
    failNext(failures);
    expect(await held.complete()).toBe('processed');
    expect(await deliver(redisStore(ioredis, { prefix }), change)).toBe('duplicate');
  });

  test('that fails to finish while a renewal lives, long after the claim, is asked again', async () => {
    const { client, failNext } = openFailing();
    const held = await hold(redisStore(client, { prefix, leaseMs: 600 }), change);
    const until = async () => Number(await admin.hget(hash, 'until'));
    const first = await until();
    await waitFor(async () => expect(await until()).toBeGreaterThan(first + 600), 5_000);
    failNext(1);
    expect(await held.complete()).toBe('processed');
    expect(await deliver(redisStore(ioredis, { prefix }), change)).toBe('duplicate');
  });

  test('that fails to finish until the lease has expired leaves the change free', async () => {
    const { client, failNext } = openFailing();
    const held = await hold(redisStore(client, { prefix, leaseMs: 300 }), change);
    failNext(Number.POSITIVE_INFINITY);
    await expect(held.complete()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('READONLY'),
    });
    expect(await deliver(redisStore(ioredis, { prefix }), change)).toBe('processed');
  });

  /** Fails the number of commands passed to `failNext`, except those that release a claim. */
  function openFailing() {
    let failures = 0;
    const client: IoredisClient = {
      async eval(script, ...command) {
        if (script === RELEASE || failures === 0) return ioredis.eval(script, ...command);
        failures -= 1;
        throw new Error('READONLY');
      },
    };
    return {
      client,
      failNext(count: number) {
        failures = count;
      },
    };
  }
});
