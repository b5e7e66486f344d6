/**
 * Verifies callbacks on WebCrypto: asynchronous, without any `node:` module.
 *
 * @module merchant-payments/callback/web
 */
export type { CallbackVerificationErrorCode, ErrorCode, Issue } from '../../errors.js';
export {
  CallbackVerificationError,
  InvalidOptionError,
  MerchantPaymentsError,
} from '../../errors.js';
export type { PaymentStatusRecord } from '../../protocol/payment.js';
export type {
  StandardSchemaIssue,
  StandardSchemaResult,
  StandardSchemaV1,
} from '../../protocol/standard-schema.js';
export type { SignatureEncoding } from '../../protocol/wire.js';
export type { RawBody } from '../body.js';
export type { CallbackHeaders, FetchHeaders } from '../headers.js';
export type { CallbackRequest, VerificationPolicy, VerifiedCallback } from '../options.js';
export type { TimestampUnit } from '../timestamp.js';
export type {
  NodeSecretKey,
  WebCryptoKey,
  WebSigningSecret,
  WebVerifyCallbackOptions,
} from './verify.js';
export { callbackKey, createCallbackVerifier, verifyCallback } from './verify.js';
