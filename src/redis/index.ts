/**
 * A store for callbacks in Redis: at least once, on any number of instances.
 *
 * @module merchant-payments/redis
 */
export type { RedisClient } from './client.js';
export type { RedisStoreOptions } from './redis-store.js';
export { redisStore } from './redis-store.js';
