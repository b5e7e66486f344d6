// Payment callbacks in AWS Lambda, behind API Gateway, a function URL or an ALB.

import { Redis } from 'ioredis';
import { RetryLaterError } from 'merchant-payments';
import { redisInbox } from 'merchant-payments/inbox/redis';
import { callbackHandler } from 'merchant-payments/lambda';

// Instances are short-lived, so the inbox must be outside them.
const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');

export const handler = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox: redisInbox(redis),
  async onPayment({ payment }, { stale }) {
    const reference = payment.merchantPaymentReference;
    const order = `order:${reference}`; // a hash, stored before the payment was created
    if ((await redis.exists(order)) === 0) throw new RetryLaterError('order not stored yet');
    // Sets the field once, however many instances run.
    if (payment.status === 'paid' && (await redis.hsetnx(order, 'shippedAt', Date.now()))) {
      console.log(`${reference} is shipped`);
    }
    if (!stale) {
      await redis.hset(order, 'status', payment.status);
      console.log(`${reference} is ${payment.status}`);
    }
  },
});
