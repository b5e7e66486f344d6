/**
 * The callback handler for AWS Lambda: API Gateway, function URLs and load balancers.
 *
 * @module merchant-payments/lambda
 */

export { RetryLaterError } from '../errors.js';
export { isPaid } from '../protocol/payment.js';
export type { LambdaCallbackHandler } from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
