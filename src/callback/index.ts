/**
 * Verifies callbacks, without loading the client: on `node:crypto`, or on WebCrypto without any `node:` module.
 *
 * @module merchant-payments/callback
 */
export type { Issue } from '../errors.js';
export { CallbackVerificationError } from '../errors.js';
export type { PaymentStatusRecord } from '../protocol/payment.js';
export type { StandardSchemaV1 } from '../protocol/standard-schema.js';
export type { SignatureEncoding, TimestampUnit } from '../protocol/wire.js';
export type { RawBody } from './body.js';
export type { CallbackHeaders } from './headers.js';
export type {
  CallbackRequest,
  SigningSecret,
  VerifiedCallback,
  VerifyCallbackOptions,
} from './options.js';
export { callbackKey, createCallbackVerifier, verifyCallback } from './verify.js';
export { createAsyncCallbackVerifier, verifyCallbackAsync } from './verify-async.js';
