/**
 * The callback handler as a Fastify plugin.
 *
 * @module merchant-payments/fastify
 */
export type { RetryLaterOptions } from '../errors.js';
export { RetryLaterError } from '../errors.js';
export type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
export { callbackPlugin } from './callback-plugin.js';
export type {
  FastifyInstanceLike,
  FastifyReplyLike,
  FastifyRequestLike,
} from './fastify-like.js';
export type { CallbackPluginOptions } from './options.js';
