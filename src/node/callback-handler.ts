import type { IncomingMessage, ServerResponse } from 'node:http';
import { prepareSecrets } from '../callback/verify.js';
import {
  type FastifyReplyLike,
  type FastifyRequestLike,
  receiveFastify,
} from '../receiver/fastify-request.js';
import {
  type EntryPoint,
  isFastifyPair,
  isNodeRequest,
  isNodeResponse,
  refuseArguments,
} from '../receiver/foreign-arguments.js';
import { closeIfUnread, readNodeBody, signalWhenGone } from '../receiver/node-request.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver, type ReceivedWork, type ReceivingEnd } from '../receiver/receiver.js';

/** Handles requests to the callback endpoint. */
export interface CallbackHandler extends ReceivedWork {
  /** Answers one request by Fastify's request and reply, as in NestJS with FastifyAdapter. */
  (request: FastifyRequestLike, reply: FastifyReplyLike): Promise<void>;
  /** Answers one request by Koa's context. */
  (context: KoaContextLike): Promise<void>;
  /**
   * Answers one request. It does not reject because of a request.
   *
   * @throws {InvalidOptionError} when it is called with what another framework passes, and has no response to answer;
   * the error, which `onError` gets too, names the right entry point
   */
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * Creates a request handler for node:http and frameworks built on it: Express 4 and 5, NestJS, Koa
 * (`ctx`), Next.js pages, and a route of Fastify. Mount it before anything that parses the body. If something has read
 * the stream, it uses a `rawBody` on the request (NestJS with `rawBody: true`) or a Buffer as `body` (`express.raw`)
 * of the length of Content-Length.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { callbackHandler } from 'merchant-payments/node';
 *
 * const handler = callbackHandler({
 *   async onPayment({ payment }) {
 *     console.log(payment.merchantPaymentReference, payment.status);
 *   },
 * });
 * createServer(handler).listen(3000);
 * ```
 */
export function callbackHandler<Tx = undefined, Fields = unknown>(
  options: CallbackReceiverOptions<Tx, Fields>,
): CallbackHandler {
  const { receive, replay, idle, report } = createReceiver(options, prepareSecrets);

  async function handlePaymentCallback(
    given: IncomingMessage | FastifyRequestLike | KoaContextLike,
    second?: ServerResponse | FastifyReplyLike,
  ): Promise<void> {
    if (isNodeRequest(given) && isNodeResponse(second)) {
      return answer(receive, given as IncomingMessage, second as ServerResponse, [given]);
    }
    if (isFastifyPair(given, second)) {
      await receiveFastify(receive, given as FastifyRequestLike, second as FastifyReplyLike);
      return;
    }
    const { req, res, request = {} } = (given ?? {}) as Partial<KoaContextLike>;
    if (isNodeRequest(req) && isNodeResponse(res)) {
      // Its body parsers keep the body on Koa's own request.
      const keepers = [req as IncomingMessage, request];
      return answer(receive, req as IncomingMessage, res as ServerResponse, keepers);
    }
    await refuseArguments(ENTRY, report, [given, second]);
  }
  return Object.assign(handlePaymentCallback, { replay, idle });
}

const ENTRY: EntryPoint = { name: 'node', takes: 'a request and a response of node:http' };

/** A context of Koa. */
export interface KoaContextLike {
  /** The request of node:http. */
  readonly req: IncomingMessage;
  /** The response of node:http. */
  readonly res: ServerResponse;
  /** Koa's own request, on which its body parsers keep the body. */
  readonly request?: object;
}

async function answer(
  receive: ReceivingEnd['receive'],
  request: IncomingMessage,
  response: ServerResponse,
  keepers: readonly object[],
): Promise<void> {
  const reply = await receive({
    method: request.method ?? '',
    headers: request.headers,
    readBody: (limits) =>
      readNodeBody({ stream: request, headers: request.headers, keepers }, limits),
    getSignal: () => signalWhenGone(response),
  });
  // Something else has answered, such as a timeout of the framework.
  if (response.headersSent) return;
  response.statusCode = reply.status;
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
  closeIfUnread(request, response);
  response.end(reply.body);
}
