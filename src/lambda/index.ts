/**
 * The callback handler for AWS Lambda: API Gateway, function URLs and load balancers.
 *
 * @module merchant-payments/lambda
 */
export type { RetryLaterOptions } from '../errors.js';
export { RetryLaterError } from '../errors.js';
export type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
export type { LambdaCallbackHandler } from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
export type { LambdaContext, LambdaEvent, LambdaResult } from './event.js';
