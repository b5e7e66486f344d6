/**
 * An inbox in Redis: at least once, on any number of instances.
 *
 * @module merchant-payments/inbox/redis
 */
export type { InboxErrorCode } from '../../errors.js';
export { InboxError, InvalidOptionError, MerchantPaymentsError } from '../../errors.js';
export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';
export type { IoredisClient, NodeRedisClient, RedisClient } from './client.js';
export type { RedisInboxOptions } from './options.js';
export { redisInbox } from './redis-inbox.js';
