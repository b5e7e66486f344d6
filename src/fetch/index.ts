/**
 * The callback handler for `Request` and `Response`: Hono, Next.js app routes, SvelteKit, Bun, Deno, Workers.
 *
 * @module merchant-payments/fetch
 */

export { RetryLaterError } from '../errors.js';
export { isPaid } from '../protocol/payment.js';
export type { FetchCallbackHandler } from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
