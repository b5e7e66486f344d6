/**
 * The callback handler for AWS Lambda: API Gateway, function URLs and load balancers.
 *
 * @module merchant-payments/lambda
 */
export type {
  LambdaCallbackHandler,
  LambdaContext,
  LambdaEvent,
  LambdaResult,
} from './callback-handler.js';
export { callbackHandler } from './callback-handler.js';
