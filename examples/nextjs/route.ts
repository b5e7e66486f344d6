// Payment callbacks in a Next.js application: app/callbacks/payments/route.ts

import { callbackHandler } from 'merchant-payments/fetch';
import { settle } from '../shop.js';

export const POST = callbackHandler({
  // As a function it is read at each callback, so that a build does without it.
  signingSecret: () => process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  onPayment: settle,
});
