import { type RedisConfigNodejs, Redis as UpstashRedis } from '@upstash/redis';
import { Cluster, Redis } from 'ioredis';
import { createClient, createClientPool, createCluster, RESP_TYPES } from 'redis';
import type { RedisClient } from '../../src/redis/client.js';
import { startHttpFront } from './http-front.js';

export const redisUrl = process.env['REDIS_URL'] ?? '';

export interface ConnectedClient {
  readonly client: RedisClient;
  close(): void;
}

/** A way to connect to the server at `url`. */
export interface ClientKind {
  readonly name: string;
  /** What the client itself puts before every key. */
  readonly keyPrefix?: string;
  connect(url: string): Promise<ConnectedClient>;
}

// Keeps the clients quiet about connections that the tests break.
const ignore = () => {};

function fromIoredis(client: Redis | Cluster): ConnectedClient {
  client.on('error', ignore);
  return { client, close: () => client.disconnect() };
}

async function fromNodeRedis<
  Client extends RedisClient & {
    on(event: 'error', listener: () => void): unknown;
    connect(): Promise<unknown>;
    destroy(): void;
  },
>(client: Client): Promise<ConnectedClient> {
  client.on('error', ignore);
  await client.connect();
  return { client, close: () => client.destroy() };
}

async function fromUpstash(
  redisUrl: string,
  options?: Partial<RedisConfigNodejs>,
): Promise<ConnectedClient> {
  const { url, token, close } = await startHttpFront(redisUrl);
  return {
    client: new UpstashRedis({ url, token, enableTelemetry: false, ...options }),
    close,
  };
}

/** Upstash's client as it is by default. */
export const upstashKind: ClientKind = { name: '@upstash/redis', connect: fromUpstash };

/** The two clients as they are by default. */
export const plainKinds: readonly ClientKind[] = [
  { name: 'ioredis', connect: async (url) => fromIoredis(new Redis(url)) },
  { name: 'node-redis', connect: (url) => fromNodeRedis(createClient({ url })) },
];

export const clientKinds: readonly ClientKind[] = [
  ...plainKinds,
  {
    name: 'ioredis with a key prefix',
    keyPrefix: 'shop:',
    connect: async (url) => fromIoredis(new Redis(url, { keyPrefix: 'shop:' })),
  },
  {
    name: 'ioredis on RESP3 with numbers as text',
    connect: async (url) => fromIoredis(new Redis(url, { protocol: 3, stringNumbers: true })),
  },
  {
    name: 'node-redis with a key prefix',
    keyPrefix: 'shop:',
    connect: (url) => fromNodeRedis(createClient({ url, keyPrefix: 'shop:' })),
  },
  {
    name: 'node-redis on RESP2',
    connect: (url) => fromNodeRedis(createClient({ url, RESP: 2 })),
  },
  {
    name: 'node-redis on RESP3 with text as bytes and numbers as text',
    connect: (url) =>
      fromNodeRedis(
        createClient({
          url,
          RESP: 3,
          commandOptions: {
            typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String },
          },
        }),
      ),
  },
  upstashKind,
  {
    name: '@upstash/redis that sends each command by itself',
    connect: (url) => fromUpstash(url, { enableAutoPipelining: false }),
  },
  {
    name: '@upstash/redis that neither parses nor encodes answers',
    connect: (url) =>
      fromUpstash(url, { automaticDeserialization: false, responseEncoding: false }),
  },
  { name: 'a pool of node-redis', connect: (url) => fromNodeRedis(createClientPool({ url })) },
];

export const clusterKinds: readonly ClientKind[] = [
  {
    name: 'a Cluster of ioredis',
    connect: async (url) => fromIoredis(new Cluster([url])),
  },
  {
    name: 'a cluster of node-redis',
    connect: (url) => fromNodeRedis(createCluster({ rootNodes: [{ url }] })),
  },
];
