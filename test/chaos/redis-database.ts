import { Redis } from 'ioredis';
import { startRedis } from '../services/start-redis.js';
import type { Database } from './database.js';
import type { Effect } from './history.js';

export async function startRedisDatabase(): Promise<Database> {
  // What was acknowledged must outlive a crash of the server.
  const server = await startRedis({ appendonly: true });
  const ask = async <Answer>(command: (client: Redis) => Promise<Answer>): Promise<Answer> => {
    const client = new Redis(server.url, { lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => {});
    try {
      await client.connect();
      return await command(client);
    } finally {
      client.disconnect();
    }
  };
  return {
    url: server.url,
    guarantee: 'at-least-once',
    isReadableWhileDown: false,
    async cutConnections() {
      await ask((client) => client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
    },
    crash: server.kill,
    restart: server.restart,
    async readEffects() {
      const lines = await ask((client) => client.lrange('effects', 0, -1));
      const ends = await ask((client) => client.hgetall('ends'));
      return lines.map((line) => {
        const { run, ...effect } = JSON.parse(line) as Omit<Effect, 'doneAtMs'> & { run: string };
        return { ...effect, doneAtMs: Number(ends[run] ?? Number.POSITIVE_INFINITY) };
      });
    },
    async readOrders() {
      return new Map(Object.entries(await ask((client) => client.hgetall('orders'))));
    },
    stop: server.stop,
  };
}
