/**
 * The callback handler as a Fastify plugin.
 *
 * @module merchant-payments/fastify
 */

export { RetryLaterError } from '../errors.js';
export { isPaid } from '../protocol/payment.js';
export type { CallbackPluginOptions } from './callback-plugin.js';
export { callbackPlugin } from './callback-plugin.js';
