// Payment callbacks in a Next.js application: app/callbacks/payments/route.ts

import { callbackHandler } from 'merchant-payments/fetch';
import { settle, store } from '../memory-shop.js';

export const POST = callbackHandler({
  // A function is called for each callback, so a build needs no secret.
  signingSecret: () => process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  store,
  onPayment: settle,
});
