import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { createCallbackVerifier } from '../callback/verify.js';
import { matching, type Rule } from '../protocol/options.js';
import { closeIfUnread, readNodeBody, signalWhenGone } from '../receiver/node-request.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver } from '../receiver/receiver.js';

/**
 * A plugin for Fastify 4 and 5 with a route for payment callbacks. It is encapsulated: it has its own parser,
 * which keeps the raw body, and the rest of the application parses as before. `app.close()` waits until no
 * callback is being processed, but for at most `onPaymentTimeoutMs`. Fastify's types can't infer `tx` from
 * the store: with postgresStore register `callbackPlugin<Queryable>`.
 *
 * @throws {InvalidOptionError} when an option is invalid; `app.ready()` rejects with it
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
/** The overload from which Fastify infers: `tx` is `unknown`. */
export function callbackPlugin(
  instance: FastifyInstanceLike,
  options: CallbackPluginOptions<unknown>,
): Promise<void>;
export async function callbackPlugin(
  instance: FastifyInstanceLike,
  options: CallbackPluginOptions<unknown>,
): Promise<void> {
  let path = '';
  const rules = {
    ...PLUGIN_RULES,
    path: (value: unknown, option: string) => {
      path = route(value, option);
      return path;
    },
  };
  const { receive, close } = createReceiver(options, createCallbackVerifier, rules);

  instance.addHook('onClose', close);
  instance.removeAllContentTypeParsers();
  // Passes the stream on unread: the receiver counts its bytes.
  instance.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  instance.all(path, async function handlePaymentCallback(request, reply) {
    const { status, headers } = await receive({
      method: request.raw.method ?? '',
      headers: request.raw.headers,
      readBody: (limits) =>
        readNodeBody((request.body ?? request.raw) as Readable, request, limits),
      getSignal: () => signalWhenGone(reply.raw),
    });
    // Something else has answered, such as a timeout of the application.
    if (reply.sent) return reply;
    closeIfUnread(request.raw, reply.raw);
    reply.code(status);
    reply.headers(headers);
    return reply.send();
  });
}

/** Options of `callbackPlugin`. */
export interface CallbackPluginOptions<Tx = undefined, Fields = unknown>
  extends CallbackReceiverOptions<Tx, Fields> {
  /** The route, which begins with `/`, below the plugin's `prefix`. */
  path: string;
}

const route = matching<string>(
  "a route that begins with a slash, such as '/callbacks/payments'",
  (path: unknown) => typeof path === 'string' && path.startsWith('/'),
);

// Options of Fastify's `register`, which the receiver does not know.
const PLUGIN_RULES: Readonly<Record<string, Rule<unknown>>> = {
  prefix: anything,
  logLevel: anything,
  logSerializers: anything,
};

function anything(value: unknown): unknown {
  return value;
}

// The parts of Fastify 4 and 5 that are used. Fastify's own types would tie the plugin to one version.

/** A Fastify request. */
export interface FastifyRequestLike {
  /** The request of node:http. */
  readonly raw: IncomingMessage;
  /** The body as the content type parser returned it. */
  readonly body: unknown;
  /** The raw body, if a plugin such as fastify-raw-body kept it. */
  readonly rawBody?: unknown;
}

/** A Fastify reply. */
export interface FastifyReplyLike {
  /** The response of node:http. */
  readonly raw: ServerResponse;
  /** Whether it has been sent. */
  readonly sent: boolean;
  /** Sets the status. */
  code(status: number): unknown;
  /** Sets headers. */
  headers(values: Record<string, string>): unknown;
  /** Sends the reply. */
  send(): unknown;
}

/** A Fastify instance, version 4 or 5. */
export interface FastifyInstanceLike {
  /** Removes the parsers inherited from the parent, in this plugin only. */
  removeAllContentTypeParsers(): void;
  /** Sets how a body is parsed, in this plugin only. */
  addContentTypeParser(
    contentType: string,
    parser: (
      request: never,
      payload: IncomingMessage,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): unknown;
  /** Runs something before the application is closed. */
  addHook(name: 'onClose', hook: () => Promise<void>): unknown;
  /** Adds a route for every method. */
  all(
    path: string,
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown;
}
