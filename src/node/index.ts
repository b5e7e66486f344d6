/**
 * The callback handler for node:http, Express, NestJS, Koa and Next.js pages.
 *
 * @module merchant-payments/node
 */
export type { CallbackHandler } from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
