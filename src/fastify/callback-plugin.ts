import type { IncomingMessage } from 'node:http';
import { createCallbackVerifier } from '../callback/verify.js';
import { InvalidOptionError } from '../errors.js';
import { assertOptionsObject } from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import type { CallbackReceiverOptions } from '../receiver/callback-receiver.js';
import { readNodeBody } from '../receiver/node-body.js';
import { closeIfUnread, signalWhenGone } from '../receiver/node-connection.js';
import { createReceiver } from '../receiver/receiver.js';
import type { FastifyInstanceLike } from './fastify-like.js';

/** Options of {@link callbackPlugin}. */
export interface CallbackPluginOptions<Tx = undefined> extends CallbackReceiverOptions<Tx> {
  /** The route, from `/`, below the plugin's `prefix`. */
  path: string;
}

/**
 * A Fastify plugin (4 and 5) with a route for payment callbacks. It is encapsulated: the raw body
 * parser it needs is its own, and the rest of the application parses as before.
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
export async function callbackPlugin<Tx = undefined>(
  instance: FastifyInstanceLike,
  options: CallbackPluginOptions<Tx>,
): Promise<void> {
  assertOptionsObject('options', options, 'path, signingSecret and onPayment');
  assertPath(options.path);
  const receive = createReceiver(options, createCallbackVerifier);

  instance.removeAllContentTypeParsers();
  // Hands the stream on unread: the receiver counts its bytes.
  instance.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  instance.all(options.path, async function handlePaymentCallback(request, reply) {
    const { status, headers } = await receive({
      method: request.raw.method ?? '',
      headers: request.raw.headers,
      readBody: (limits) => readNodeBody((request.body ?? request.raw) as IncomingMessage, limits),
      getSignal: () => signalWhenGone(reply.raw),
    });
    closeIfUnread(request.raw, reply.raw);
    reply.code(status);
    reply.headers(headers);
    return reply.send();
  });
}

function assertPath(path: unknown): void {
  if (typeof path === 'string' && path.startsWith('/')) return;
  throw new InvalidOptionError(
    'path',
    `path must be a route that begins with a slash, such as '/callbacks/payments', but ${describeValue(path)} came`,
  );
}
