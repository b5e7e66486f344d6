import type { IncomingMessage, ServerResponse } from 'node:http';
import { createCallbackVerifier } from '../callback/verify.js';
import type { ChangeId } from '../inbox/failed-changes.js';
import { closeIfUnread, readNodeBody, signalWhenGone } from '../receiver/node-request.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver } from '../receiver/receiver.js';
import type { CallbackReply } from '../receiver/reply.js';

/** Handles requests to the callback endpoint. */
export interface CallbackHandler {
  /** Answers one request. It never rejects. */
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /**
   * Runs `onPayment` for a failed change that the inbox kept, like `replay` of `createCallbackReceiver`.
   *
   * @throws {InboxError} `REPLAY_IMPOSSIBLE` when the change or its body (`keepBodies: true`) is not kept, or
   * the body is another change's
   */
  replay(change: ChangeId): Promise<CallbackReply>;
  /**
   * Resolves as soon as no callback is being processed; an `onPayment` that runs on after its timeout counts
   * too. Close the server first. To wait for a limited time, race it with a timer.
   */
  idle(): Promise<void>;
}

/**
 * Creates a request handler for node:http and frameworks built on it: Express 4 and 5, NestJS, Koa
 * (`ctx.req`, `ctx.res`), Next.js pages. Mount it before anything that parses the body. It uses a `rawBody`
 * on the request (NestJS with `rawBody: true`) or a Buffer as `body` (`express.raw`). The promise never
 * rejects.
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
  const { receive, replay, idle } = createReceiver(options, createCallbackVerifier);

  async function handlePaymentCallback(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { status, headers } = await receive({
      method: request.method ?? '',
      headers: request.headers,
      readBody: (limits) =>
        readNodeBody({ stream: request, headers: request.headers, keepers: [request] }, limits),
      getSignal: () => signalWhenGone(response),
    });
    // Something else has answered, such as a timeout of the framework.
    if (response.headersSent) return;
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    closeIfUnread(request, response);
    response.end();
  }
  return Object.assign(handlePaymentCallback, { replay, idle });
}
