/**
 * The receiver on which every handler is built: it takes a callback request and returns a reply.
 *
 * @module merchant-payments/receiver
 */

export { RetryLaterError } from '../errors.js';
export { isPaid } from '../protocol/payment.js';
export type { StoreContext } from '../store/callback-store.js';
export type { CallbackReceiver, ReceivedRequest } from './callback-receiver.js';
export { createCallbackReceiver } from './callback-receiver.js';
export type { CallbackTrace } from './observation.js';
export type { CallbackReceiverOptions } from './options.js';
export type { CallbackOutcome, CallbackReply } from './reply.js';
