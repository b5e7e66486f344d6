export { InvalidOptionError, MerchantPaymentsError } from '../errors.js';
export type { SigningSecret } from '../mock-server/callbacks/sign.js';
export type { PaymentStatusRecord } from '../protocol/payment.js';
export type { SignatureEncoding } from '../protocol/wire.js';
export type { SignCallbackInput, SignedCallback } from './sign-callback.js';
export { signCallback } from './sign-callback.js';
