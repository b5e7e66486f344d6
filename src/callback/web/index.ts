/**
 * Verifies callbacks on WebCrypto: asynchronous, without any `node:` module.
 *
 * @module merchant-payments/callback/web
 */
export { CallbackVerificationError } from '../../errors.js';
export { callbackKey } from './key.js';
export type { WebCryptoKey, WebSigningSecret } from './verify.js';
export { createCallbackVerifier, verifyCallback } from './verify.js';
