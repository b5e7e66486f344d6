import { createCallbackVerifier, type WebSigningSecret } from '../callback/web/verify.js';
import { readWebBody } from '../receiver/body.js';
import {
  type EntryPoint,
  findFetchRequest,
  refuseArguments,
} from '../receiver/foreign-arguments.js';
import type { ChangeId } from '../receiver/kept-failures.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver } from '../receiver/receiver.js';
import { bodyOf, type CallbackReply } from '../receiver/reply.js';

/** Handles requests to the callback endpoint. */
export interface FetchCallbackHandler {
  /** Answers one request by what a framework passes to a route: Hono's context, SvelteKit's event. */
  (context: FetchContextLike): Promise<Response>;
  /**
   * Answers one request. It does not reject because of a request.
   *
   * @throws {InvalidOptionError} when it is called with what a framework without `Request` passes; the error, which
   * `onError` gets too, names the right entry point
   */
  (request: Request): Promise<Response>;
  /**
   * Runs `onPayment` for a failed change that the store kept, like `replay` of `createCallbackReceiver`.
   *
   * @throws {StoreError} `REPLAY_IMPOSSIBLE` when the change is no longer kept, `prune` has removed its body, or
   * the body is another change's
   */
  replay(change: ChangeId): Promise<CallbackReply>;
  /**
   * Resolves as soon as no callback is being processed; an `onPayment` that runs on after its timeout counts
   * too. Stop accepting requests first. To wait for a limited time, race it with a timer.
   */
  idle(): Promise<void>;
}

/**
 * Creates a handler that takes a Fetch `Request` and resolves with a `Response`: for Hono, Next.js app routes,
 * SvelteKit, Bun, Deno, Workers. It verifies with WebCrypto and uses no Node module. Pass the request before anything
 * reads its body. The signing secret may also be a WebCrypto `CryptoKey`.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { callbackHandler } from 'merchant-payments/fetch';
 *
 * export const POST = callbackHandler({
 *   async onPayment({ payment }) {
 *     console.log(payment.merchantPaymentReference, payment.status);
 *   },
 * });
 * ```
 */
export function callbackHandler<Tx = undefined, Fields = unknown>(
  options: CallbackReceiverOptions<Tx, Fields, WebSigningSecret>,
): FetchCallbackHandler {
  const { receive, replay, idle } = createReceiver(options, createCallbackVerifier);

  async function handlePaymentCallback(given: Request | FetchContextLike): Promise<Response>;
  async function handlePaymentCallback(
    given: Request | FetchContextLike,
    second?: unknown,
  ): Promise<Response | undefined> {
    const request = findFetchRequest(given);
    if (request === undefined) {
      await refuseArguments(ENTRY, receive, [given, second]);
      return undefined;
    }
    const reply = await receive({
      method: request.method,
      headers: request.headers,
      readBody: async (limits) => [await readWebBody(request, limits)],
      getSignal: () => request.signal,
    });
    const { status, headers } = reply;
    return new Response(bodyOf(reply) ?? null, { status, headers });
  }
  return Object.assign(handlePaymentCallback, { replay, idle });
}

const ENTRY: EntryPoint = { name: 'fetch', takes: 'a Request' };

/** What Hono (`req.raw`) or SvelteKit (`request`) passes to a route. */
export type FetchContextLike =
  | {
      /** Hono's request. */
      readonly req: {
        /** The request of the platform. */
        readonly raw: Request;
      };
    }
  | {
      /** The request, in SvelteKit's event. */
      readonly request: Request;
    };
