/**
 * The callback handler for node:http, Express, NestJS, Koa and Next.js pages.
 *
 * @module merchant-payments/node
 */
export type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
export { callbackHandler } from './callback-handler.js';
