import { createCallbackVerifier } from '../callback/verify.js';
import type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
import { createReceiver } from '../receiver/receiver.js';
import {
  type LambdaContext,
  type LambdaEvent,
  type LambdaResult,
  readBody,
  readHeaders,
  readMethod,
  readTimeLimitMs,
  writeResult,
} from './event.js';

/** Handles events of the callback endpoint. */
export interface LambdaCallbackHandler {
  /**
   * Answers one event. It never rejects. With the function's `context` the time that is left bounds
   * `onPaymentTimeoutMs`, so that the service gets a 500 before the function is ended.
   */
  (event: LambdaEvent, context?: LambdaContext): Promise<LambdaResult>;
  /**
   * Resolves as soon as no callback is being processed, an `onPayment` that runs on after its timeout
   * included. A frozen function
   * does not wait: this is for tests and for other hosts.
   */
  idle(): Promise<void>;
}

/**
 * Makes a handler for AWS Lambda behind API Gateway (REST and HTTP API), a function URL or an ALB.
 * Use an inbox that outlives the function's instance. The promise never rejects.
 *
 * @throws {InvalidOptionError} when an option can't be right
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis';
 * import { redisInbox } from 'merchant-payments/inbox/redis';
 * import { callbackHandler } from 'merchant-payments/lambda';
 *
 * export const handler = callbackHandler({
 *   signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
 *   inbox: redisInbox(new Redis(process.env.REDIS_URL ?? '')),
 *   async onPayment({ payment }) {
 *     console.log(payment.merchantPaymentReference, payment.status);
 *   },
 * });
 * ```
 */
export function callbackHandler<Tx = undefined, Fields = unknown>(
  options: CallbackReceiverOptions<Tx, Fields>,
): LambdaCallbackHandler {
  const { receive, idle } = createReceiver(options, createCallbackVerifier);

  async function handlePaymentCallback(
    given: LambdaEvent | null | undefined,
    context?: LambdaContext,
  ): Promise<LambdaResult> {
    // A function that is called by hand may get no event at all.
    const event = given ?? {};
    const reply = await receive({
      method: readMethod(event),
      headers: readHeaders(event),
      readBody: () => readBody(event),
      getTimeLimitMs: () => readTimeLimitMs(context),
    });
    return writeResult(event, reply);
  }
  return Object.assign(handlePaymentCallback, { idle });
}
