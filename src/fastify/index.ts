/**
 * The callback handler as a Fastify plugin.
 *
 * @module merchant-payments/fastify
 */
export type {
  CallbackPluginOptions,
  FastifyInstanceLike,
  FastifyReplyLike,
  FastifyRequestLike,
} from './callback-plugin.js';
export { callbackPlugin } from './callback-plugin.js';
