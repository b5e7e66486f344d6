export type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
export { callbackHandler } from './callback-handler.js';
export type { LambdaEvent, LambdaResult } from './event.js';
