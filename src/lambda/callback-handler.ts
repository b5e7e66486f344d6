import { createCallbackVerifier } from '../callback/verify.js';
import type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
import { createReceiver } from '../receiver/receiver.js';
import {
  type LambdaEvent,
  type LambdaResult,
  readBody,
  readHeaders,
  readMethod,
  writeResult,
} from './event.js';

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
export function callbackHandler<Tx = undefined>(
  options: CallbackReceiverOptions<Tx>,
): (event: LambdaEvent) => Promise<LambdaResult> {
  const receive = createReceiver(options, createCallbackVerifier);

  return async function handlePaymentCallback(given: LambdaEvent | null | undefined) {
    // A function that is called by hand may get no event at all.
    const event = given ?? {};
    const reply = await receive({
      method: readMethod(event),
      headers: readHeaders(event),
      readBody: () => readBody(event),
    });
    return writeResult(event, reply);
  };
}
