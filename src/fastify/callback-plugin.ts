import type { IncomingMessage } from 'node:http';
import { prepareSecrets } from '../callback/verify.js';
import { matching, type Rule } from '../protocol/options.js';
import {
  type FastifyReplyLike,
  type FastifyRequestLike,
  receiveFastify,
} from '../receiver/fastify-request.js';
import { type EntryPoint, refuseArguments } from '../receiver/foreign-arguments.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver } from '../receiver/receiver.js';
import { reportToConsole } from '../receiver/report.js';

/**
 * A plugin for Fastify 4 and 5 with a route for payment callbacks. It is encapsulated. Its parser keeps the raw body,
 * and the rest of the application parses as before. `app.close()` waits until no
 * callback is being processed, but for at most `onPaymentTimeoutMs`. Fastify's types can't infer `tx` from the store,
 * so with postgresStore register `callbackPlugin<Queryable>`.
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
  if (typeof instance?.addContentTypeParser !== 'function') {
    return refuseArguments(ENTRY, async (error) => reportToConsole(error), [instance, options]);
  }
  let path = '';
  const rules = {
    ...PLUGIN_RULES,
    path: (value: unknown, option: string) => {
      path = route(value, option);
      return path;
    },
  };
  const { receive, close } = createReceiver(options, prepareSecrets, rules);

  instance.addHook('onClose', close);
  instance.addHook('onRequest', async (request) => {
    const { headers } = request.raw;
    // Fastify 5 would answer 415 itself, and neither onRejected nor the log would hear of it.
    if (!MEDIA_TYPE.test(headers['content-type'] ?? ANY_TYPE)) headers['content-type'] = ANY_TYPE;
  });
  instance.removeAllContentTypeParsers();
  // Passes the stream on unread: the receiver counts its bytes.
  instance.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  instance.all(path, function handlePaymentCallback(request, reply) {
    return receiveFastify(receive, request, reply);
  });
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const ANY_TYPE = 'application/octet-stream';

const ENTRY: EntryPoint = {
  name: 'fastify',
  takes: 'a Fastify instance, as in app.register(callbackPlugin, { path, … })',
};

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
  /** Runs something before a request of this plugin is parsed. */
  addHook(
    name: 'onRequest',
    hook: (request: FastifyRequestLike, reply: unknown) => Promise<void>,
  ): unknown;
  /** Adds a route for every method. */
  all(
    path: string,
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown;
}
