import type { Readable } from 'node:stream';
import { createCallbackVerifier } from '../callback/verify.js';
import { readNodeBody } from '../receiver/node-body.js';
import { closeIfUnread, signalWhenGone } from '../receiver/node-connection.js';
import { createReceiver } from '../receiver/receiver.js';
import type { FastifyInstanceLike } from './fastify-like.js';
import { assertPath, type CallbackPluginOptions, PLUGIN_OPTIONS } from './options.js';

/**
 * A Fastify plugin (4 and 5) with a route for payment callbacks. It is encapsulated: the raw body
 * parser it needs is its own, and the rest of the application parses as before. `app.close()` waits
 * until no callback is being processed, for `onPaymentTimeoutMs` at most. Fastify's types
 * can't infer `tx` from the inbox: with postgresInbox register `callbackPlugin<Queryable>`.
 *
 * @throws {InvalidOptionError} when an option can't be right; `app.ready()` rejects with it
 *
 * @example
 * ```ts
 * import fastify from 'fastify';
 * import { callbackPlugin } from 'merchant-payments/fastify';
 *
 * const app = fastify();
 * app.register(callbackPlugin, {
 *   path: '/callbacks/payments',
 *   signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
 *   async onPayment({ payment }) {
 *     app.log.info({ reference: payment.merchantPaymentReference }, payment.status);
 *   },
 * });
 * await app.listen({ port: 3000 });
 * ```
 */
export function callbackPlugin<Tx, Fields = unknown>(
  instance: FastifyInstanceLike,
  options: CallbackPluginOptions<Tx, Fields>,
): Promise<void>;
/** What Fastify infers from: `tx` is `unknown`. */
export function callbackPlugin(
  instance: FastifyInstanceLike,
  options: CallbackPluginOptions<unknown>,
): Promise<void>;
export async function callbackPlugin(
  instance: FastifyInstanceLike,
  options: CallbackPluginOptions<unknown>,
): Promise<void> {
  assertPath(options);
  const { receive, close } = createReceiver(options, createCallbackVerifier, PLUGIN_OPTIONS);

  instance.addHook('onClose', close);
  instance.removeAllContentTypeParsers();
  // Hands the stream on unread: the receiver counts its bytes.
  instance.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  instance.all(options.path, async function handlePaymentCallback(request, reply) {
    const { status, headers } = await receive({
      method: request.raw.method ?? '',
      headers: request.raw.headers,
      readBody: (limits) =>
        readNodeBody((request.body ?? request.raw) as Readable, request, limits),
      getSignal: () => signalWhenGone(reply.raw),
    });
    // Somebody else, such as a timeout of the application, was faster.
    if (reply.sent) return reply;
    closeIfUnread(request.raw, reply.raw);
    reply.code(status);
    reply.headers(headers);
    return reply.send();
  });
}
