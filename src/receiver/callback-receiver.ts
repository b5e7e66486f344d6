import { assertRequest, type CallbackRequest } from '../callback/options.js';
import { createCallbackVerifier } from '../callback/verify.js';
import type { ChangeId } from '../inbox/failed-changes.js';
import type { CallbackReceiverOptions } from './options.js';
import { createReceiver } from './receiver.js';
import type { CallbackReply } from './reply.js';

/** A request to the callback endpoint, as any framework can give it. */
export interface ReceivedRequest extends CallbackRequest {
  /** HTTP method. */
  method: string;
  /** Aborts when the client disconnects. */
  signal?: AbortSignal | undefined;
}

/** Takes requests to the callback endpoint. */
export interface CallbackReceiver {
  /**
   * Verifies the callback, processes it once, and gives the reply. It does not reject for anything in the
   * request or in your own functions: that becomes the reply, and `onError` is called.
   *
   * @throws {InvalidOptionError} when `request` is not an object
   */
  receive(request: ReceivedRequest): Promise<CallbackReply>;
  /**
   * Runs `onPayment` for a failed change, from the body that the inbox has kept (`keepBodies: true`): it was
   * verified when it was received, so neither its age nor its signature is checked again. It goes through
   * the inbox as a delivery does: of two at once one runs. `callback.timestamp` is when the change last
   * failed. Allow it to staff only.
   *
   * @returns `processed`; `duplicate` when it was processed meanwhile; `failed` (500, and `onError` is called)
   * when `onPayment` failed again, or with `blockParked` an earlier change is parked; `busy`, `stale` and
   * `rejected` as for a delivery
   * @throws {InvalidOptionError} when `change` is not an object with `key` and `paymentReference`
   * @throws {InboxError} `REPLAY_IMPOSSIBLE` when the change or its body is not kept, and what the inbox throws
   * when it can't be read
   */
  replay(change: ChangeId): Promise<CallbackReply>;
  /**
   * Resolves as soon as no callback is being processed, an `onPayment` that runs on after its timeout
   * included. Stop taking requests first; to wait for a limited time, race it with a timer.
   */
  idle(): Promise<void>;
}

/**
 * Makes a receiver for payment callbacks (interface sections 4.2, 5.2 and 6): request in, reply out.
 * It verifies, recognises duplicates, older changes and concurrent deliveries by the inbox, calls
 * `onPayment`, and replies 200 only for what is done. The adapters (`merchant-payments/node`,
 * `/fetch`, `/fastify`, `/lambda`) are built on it; use it by itself for a framework they don't fit.
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
 *   signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
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
  const receiver = createReceiver(options, createCallbackVerifier);
  return {
    async receive(request) {
      assertRequest(request, 'method, headers and rawBody');
      const { method, headers, rawBody, signal } = request;
      return receiver.receive({
        // Some frameworks write it in lower case.
        method: String(method).toUpperCase(),
        headers,
        readBody: () => rawBody,
        getSignal: () => signal,
      });
    },
    replay: receiver.replay,
    idle: receiver.idle,
  };
}
