export type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
export { callbackHandler } from './callback-handler.js';
