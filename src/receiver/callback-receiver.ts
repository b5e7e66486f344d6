import { assertRequest } from '../callback/checks.js';
import type { CallbackRequest } from '../callback/options.js';
import { prepareSecrets } from '../callback/verify.js';
import { type EntryPoint, foreignArguments } from './foreign-arguments.js';
import type { CallbackReceiverOptions } from './options.js';
import { createReceiver, type ReceivedWork } from './receiver.js';
import type { CallbackReply } from './reply.js';

/** A request to the callback endpoint, in a form that any framework can provide. */
export interface ReceivedRequest extends CallbackRequest {
  /** HTTP method. */
  method: string;
  /** Aborts when the client disconnects. */
  signal?: AbortSignal | undefined;
}

/** Receives requests to the callback endpoint. */
export interface CallbackReceiver extends ReceivedWork {
  /**
   * Verifies the callback, processes its change once, and resolves with the reply. It does not reject because
   * of the request or because your functions throw: those determine the reply, and `onError` is called where
   * it applies.
   *
   * @throws {InvalidOptionError} when `request` is not an object with a method, such as an event of AWS Lambda
   */
  receive(request: ReceivedRequest): Promise<CallbackReply>;
}

/**
 * Creates a receiver for payment callbacks (interface sections 4.2, 5.2 and 6), which takes a request and
 * returns a reply. It verifies the callback, recognises duplicates, older changes and concurrent deliveries
 * by the store, calls `onPayment`, and replies 200 only once the work is done. The adapters
 * (`merchant-payments/node`, `/fetch`, `/fastify`, `/lambda`) are built on it; use it directly for other
 * frameworks.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { createCallbackReceiver } from 'merchant-payments/receiver';
 *
 * declare const request: { method: string; headers: Record<string, string>; body: Buffer };
 *
 * const receiver = createCallbackReceiver({
 *   async onPayment({ payment }) {
 *     console.log(payment.merchantPaymentReference, payment.status);
 *   },
 * });
 * const { status, headers } = await receiver.receive({
 *   method: request.method,
 *   headers: request.headers,
 *   rawBody: request.body,
 * });
 * ```
 */
export function createCallbackReceiver<Tx = undefined, Fields = unknown>(
  options: CallbackReceiverOptions<Tx, Fields>,
): CallbackReceiver {
  const receiver = createReceiver(options, prepareSecrets);
  return {
    async receive(request) {
      assertRequest(request, 'method, headers and rawBody');
      const { method, headers, rawBody, signal } = request;
      if (typeof method !== 'string') throw foreignArguments(ENTRY, [request]);
      return receiver.receive({
        // Some frameworks give it in lower case.
        method: method.toUpperCase(),
        headers,
        readBody: () => [rawBody],
        getSignal: () => signal,
      });
    },
    replay: receiver.replay,
    idle: receiver.idle,
  };
}

const ENTRY: EntryPoint = { name: 'receiver', takes: 'an object with method, headers and rawBody' };
