export type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
export type { CallbackPluginOptions } from './callback-plugin.js';
export { callbackPlugin } from './callback-plugin.js';
export type {
  FastifyInstanceLike,
  FastifyReplyLike,
  FastifyRequestLike,
} from './fastify-like.js';
