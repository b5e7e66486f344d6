/**
 * The callback handler for node:http, Express, NestJS, Koa and Next.js pages.
 *
 * @module merchant-payments/node
 */

export { RetryLaterError } from '../errors.js';
export { isPaid } from '../protocol/payment.js';
export type { CallbackHandler } from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
