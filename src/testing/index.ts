/**
 * Signs callbacks, checks your endpoint, and explains why a callback is refused.
 *
 * @module merchant-payments/testing
 */
export { diagnoseCallback } from './diagnosis/diagnose-callback.js';
export type {
  CallbackDiagnosis,
  CallbackFinding,
  CallbackFindingCode,
} from './diagnosis/diagnosis.js';
export { callbackFindingCodes } from './diagnosis/diagnosis.js';
export { checkCallbackEndpoint } from './endpoint-check/check-callback-endpoint.js';
export type { EndpointCheck, EndpointReport } from './endpoint-check/checks.js';
export type { CheckCallbackEndpointOptions } from './endpoint-check/options.js';
export type { SignCallbackInput, SignedCallback } from './sign-callback.js';
export { signCallback } from './sign-callback.js';
