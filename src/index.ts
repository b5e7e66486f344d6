/**
 * The client, the errors, `verifyCallback` and the types.
 *
 * @module merchant-payments
 */
export type { RawBody } from './callback/body.js';
export type { CallbackHeaders } from './callback/headers.js';
export type {
  CallbackRequest,
  SigningSecret,
  VerifiedCallback,
  VerifyCallbackOptions,
} from './callback/options.js';
export { callbackKey, createCallbackVerifier, verifyCallback } from './callback/verify.js';
export { createAsyncCallbackVerifier, verifyCallbackAsync } from './callback/verify-async.js';
export type { CallTrace, RequestTrace } from './client/observation.js';
export type { PaymentClientOptions, RequestOptions } from './client/options.js';
export type { Payments } from './client/payment-client.js';
export { PaymentClient } from './client/payment-client.js';
export type { ServiceRequest } from './client/prepared-request.js';
export type { CreatePaymentResult } from './client/response.js';
export type {
  ErrorCode,
  Issue,
  RequestOutcome,
  ServiceResponse,
} from './errors.js';
export {
  ApiError,
  CallbackVerificationError,
  ConnectionError,
  errorCodes,
  InvalidCredentialsError,
  InvalidOptionError,
  InvalidRequestError,
  MerchantPaymentsError,
  RequestAbortedError,
  RequestError,
  RequestTimeoutError,
  ResponseError,
  RetryLaterError,
  SecretUnavailableError,
  StoreError,
} from './errors.js';
export type { Logger } from './protocol/logger.js';
export type { CreatePaymentInput, PaymentStatusRecord } from './protocol/payment.js';
export { isPaid } from './protocol/payment.js';
export type { StandardSchemaV1 } from './protocol/standard-schema.js';
export type { SignatureEncoding, TimestampUnit } from './protocol/wire.js';
