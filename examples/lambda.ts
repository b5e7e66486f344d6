// Payment callbacks in AWS Lambda, behind API Gateway, a function URL or an ALB.

import { Redis } from 'ioredis';
import { redisInbox } from 'merchant-payments/inbox/redis';
import { callbackHandler } from 'merchant-payments/lambda';

// A function's instance comes and goes, so what it remembers must lie elsewhere.
const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');

export const handler = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox: redisInbox(redis),
  async onPayment({ payment }) {
    console.log(`${payment.merchantPaymentReference} is ${payment.status}`);
  },
});
