/**
 * A callback request in, a reply out: what every handler is made of.
 *
 * @module merchant-payments/receiver
 */
export type { RawBody } from '../callback/body.js';
export type { CallbackHeaders, FetchHeaders } from '../callback/headers.js';
export type { CallbackRequest, VerificationPolicy, VerifiedCallback } from '../callback/options.js';
export type { TimestampUnit } from '../callback/timestamp.js';
export type { SigningSecret, VerifyCallbackOptions } from '../callback/verify.js';
export type {
  CallbackVerificationErrorCode,
  InboxErrorCode,
  Issue,
  RetryLaterOptions,
} from '../errors.js';
export {
  CallbackVerificationError,
  InboxError,
  InvalidOptionError,
  MerchantPaymentsError,
  RetryLaterError,
} from '../errors.js';
export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox/inbox.js';
export type { PaymentStatusRecord } from '../protocol/payment.js';
export type {
  StandardSchemaIssue,
  StandardSchemaResult,
  StandardSchemaV1,
} from '../protocol/standard-schema.js';
export type { SignatureEncoding } from '../protocol/wire.js';
export type {
  CallbackReceiver,
  CallbackReceiverOptions,
  ReceivedRequest,
} from './callback-receiver.js';
export { createCallbackReceiver } from './callback-receiver.js';
export type { CallbackTrace } from './observation.js';
export type { Awaitable, PaymentContext, ReceiverOptions, Settled } from './options.js';
export type { CallbackOutcome, CallbackReply } from './reply.js';
