import { callbackHandler } from 'merchant-payments/fetch';

export const POST = callbackHandler({
  signingSecret: () => process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  onPayment: ({ payment }) => console.log(`received ${payment.status}`),
});
