/**
 * The callback handler for `Request` and `Response`: Hono, Next.js app routes, SvelteKit, Bun, Deno, Workers.
 *
 * @module merchant-payments/fetch
 */

export type { NodeSecretKey, WebCryptoKey, WebSigningSecret } from '../callback/web/verify.js';
export type { RetryLaterOptions } from '../errors.js';
export { RetryLaterError } from '../errors.js';
export type { FetchCallbackHandler, FetchCallbackOptions } from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
