/**
 * An inbox in Redis: at least once, on any number of instances.
 *
 * @module merchant-payments/inbox/redis
 */
export type {
  IoredisClient,
  NodeRedisClient,
  RedisClient,
  UpstashRedisClient,
} from './client.js';
export type { RedisInboxOptions } from './redis-inbox.js';
export { redisInbox } from './redis-inbox.js';
