/**
 * The callback handler as a Fastify plugin.
 *
 * @module merchant-payments/fastify
 */
export type { FastifyReplyLike, FastifyRequestLike } from '../receiver/fastify-request.js';
export type { CallbackPluginOptions, FastifyInstanceLike } from './callback-plugin.js';
export { callbackPlugin } from './callback-plugin.js';
