import { callbackHandler } from 'merchant-payments/lambda';

export const seen = [];

export const handler = callbackHandler({
  signingSecret: 'bundle-signing-secret',
  onPayment: ({ payment }) => void seen.push(payment.status),
});
