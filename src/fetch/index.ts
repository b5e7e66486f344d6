export type { NodeSecretKey, WebCryptoKey, WebSigningSecret } from '../callback/web/verify.js';
export type { FetchCallbackOptions } from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
