import { prepareSecretsAsync } from '../callback/verify-async.js';
import { readWebBody } from '../receiver/body.js';
import {
  type EntryPoint,
  findFetchRequest,
  refuseArguments,
} from '../receiver/foreign-arguments.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver, type ReceivedWork } from '../receiver/receiver.js';

/** Handles requests to the callback endpoint. */
export interface FetchCallbackHandler extends ReceivedWork {
  /** Answers one request by what a framework passes to a route: Hono's context, SvelteKit's event. */
  (context: FetchContextLike): Promise<Response>;
  /**
   * Answers one request. It does not reject because of a request.
   *
   * @throws {InvalidOptionError} when it is called with what a framework without `Request` passes; the error, which
   * `onError` gets too, names the right entry point
   */
  (request: Request): Promise<Response>;
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
  options: CallbackReceiverOptions<Tx, Fields>,
): FetchCallbackHandler {
  const { receive, replay, idle, report } = createReceiver(options, prepareSecretsAsync);

  async function handlePaymentCallback(given: Request | FetchContextLike): Promise<Response>;
  async function handlePaymentCallback(
    given: Request | FetchContextLike,
    second?: unknown,
  ): Promise<Response | undefined> {
    const request = findFetchRequest(given);
    if (request === undefined) {
      await refuseArguments(ENTRY, report, [given, second]);
      return undefined;
    }
    const reply = await receive({
      method: request.method,
      headers: request.headers,
      readBody: async (limits) => [await readWebBody(request, limits)],
      getSignal: () => request.signal,
    });
    const { status, headers } = reply;
    return new Response(reply.body ?? null, { status, headers });
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
