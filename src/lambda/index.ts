/**
 * The callback handler for AWS Lambda: API Gateway, function URLs and load balancers.
 *
 * @module merchant-payments/lambda
 */
export type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
export { callbackHandler } from './callback-handler.js';
export type { LambdaEvent, LambdaResult } from './event.js';
