/**
 * Signs callbacks, checks your endpoint, and finds out why a callback is refused.
 *
 * @module merchant-payments/testing
 */
export type { CallbackHeaders } from '../callback/headers.js';
export type { CallbackRequest, VerifyCallbackOptions } from '../callback/options.js';
export type { CallbackVerificationErrorCode, Issue } from '../errors.js';
export { InvalidOptionError, MerchantPaymentsError, RequestAbortedError } from '../errors.js';
export type { SigningSecret } from '../mock-server/callbacks/sign.js';
export type { PaymentStatusRecord } from '../protocol/payment.js';
export type { SignatureEncoding } from '../protocol/wire.js';
export { diagnoseCallback } from './diagnosis/diagnose-callback.js';
export type {
  CallbackDiagnosis,
  CallbackFinding,
  CallbackFindingCode,
  CallbackFindingOption,
} from './diagnosis/diagnosis.js';
export { callbackFindingCodes } from './diagnosis/diagnosis.js';
export { checkCallbackEndpoint } from './endpoint-check/check-callback-endpoint.js';
export type {
  CheckCallbackEndpointOptions,
  CheckedPayment,
  EffectCount,
} from './endpoint-check/options.js';
export type { EndpointCheck, EndpointCheckId, EndpointReport } from './endpoint-check/report.js';
export type { SignCallbackInput, SignedCallback } from './sign-callback.js';
export { signCallback } from './sign-callback.js';
