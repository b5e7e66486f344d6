/**
 * Verifies callbacks on `node:crypto`, without loading the client.
 *
 * @module merchant-payments/callback
 */
export type { CallbackVerificationErrorCode, Issue } from '../errors.js';
export { CallbackVerificationError } from '../errors.js';
export type { PaymentStatusRecord } from '../protocol/payment.js';
export type {
  StandardSchemaIssue,
  StandardSchemaResult,
  StandardSchemaV1,
} from '../protocol/standard-schema.js';
export type { SignatureEncoding, TimestampUnit } from '../protocol/wire.js';
export type { RawBody } from './body.js';
export type { CallbackHeaders, FetchHeaders } from './headers.js';
export type {
  CallbackRequest,
  NodeSecretKey,
  SigningSecret,
  VerifiedCallback,
  VerifyCallbackOptions,
} from './options.js';
export { callbackKey, createCallbackVerifier, verifyCallback } from './verify.js';
