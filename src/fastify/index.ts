/**
 * The callback handler as a Fastify plugin.
 *
 * @module merchant-payments/fastify
 */

export { RetryLaterError } from '../errors.js';
export { isPaid } from '../protocol/payment.js';
export type { FastifyReplyLike, FastifyRequestLike } from '../receiver/fastify-request.js';
export type { CallbackPluginOptions, FastifyInstanceLike } from './callback-plugin.js';
export { callbackPlugin } from './callback-plugin.js';
