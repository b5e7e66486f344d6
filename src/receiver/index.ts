/**
 * A callback request in, a reply out: what every handler is made of.
 *
 * @module merchant-payments/receiver
 */
export { RetryLaterError } from '../errors.js';
export type { CallbackReceiver, ReceivedRequest } from './callback-receiver.js';
export { createCallbackReceiver } from './callback-receiver.js';
export type { CallbackTrace } from './observation.js';
export type { Awaitable, CallbackReceiverOptions, PaymentContext, Settled } from './options.js';
export type { CallbackOutcome, CallbackReply } from './reply.js';
