// Payment callbacks in AWS Lambda, behind API Gateway, a function URL or an ALB.

import { Redis } from 'ioredis';
import { callbackHandler, isPaid, RetryLaterError } from 'merchant-payments/lambda';
import { redisStore } from 'merchant-payments/redis';

// Instances are short-lived, so the store must be outside them.
const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');

export const handler = callbackHandler({
  store: redisStore(redis),
  async onPayment({ payment }, { order: reference, current }) {
    const order = `order:${reference}`; // a hash, stored before the payment was created
    if ((await redis.exists(order)) === 0) throw new RetryLaterError('order not stored yet');
    // Written once, on any number of instances; a worker ships what has the field.
    if (isPaid(payment) && (await redis.hsetnx(order, 'paidAt', payment.updatedAt))) {
      console.log(`${reference} is to be shipped`);
    }
    if (current) {
      await redis.hset(order, 'status', payment.status);
      console.log(`${reference} is ${payment.status}`);
    }
  },
});
