// Payment callbacks in a Next.js application: app/callbacks/payments/route.ts

import { callbackHandler } from 'merchant-payments/fetch';

export const POST = callbackHandler({
  // As a function it is read when a callback comes, so that a build does without it.
  signingSecret: () => process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  async onPayment({ payment }) {
    console.log(`${payment.merchantPaymentReference} is ${payment.status}`);
  },
});
