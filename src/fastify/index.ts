/**
 * The callback handler as a Fastify plugin.
 *
 * @module merchant-payments/fastify
 */
export { RetryLaterError } from '../errors.js';
export type {
  CallbackPluginOptions,
  FastifyInstanceLike,
  FastifyReplyLike,
  FastifyRequestLike,
} from './callback-plugin.js';
export { callbackPlugin } from './callback-plugin.js';
