import { createCallbackVerifier, type WebSigningSecret } from '../callback/web/verify.js';
import type { ReceiverOptions } from '../receiver/options.js';
import { createReceiver } from '../receiver/receiver.js';
import { readWebBody } from '../receiver/web-body.js';

/** Options of {@link callbackHandler}. The signing secret may be a WebCrypto `CryptoKey` too. */
export interface FetchCallbackOptions<Tx = undefined>
  extends ReceiverOptions<Tx, WebSigningSecret> {}

/**
 * Makes a handler from a Fetch `Request` to a `Response`: Hono (`c.req.raw`), Next.js app routes,
 * SvelteKit, Bun, Deno, Workers. It verifies with WebCrypto and uses no Node module. Pass the
 * request before anything reads its body. The promise never rejects.
 *
 * @throws {InvalidOptionError} when an option can't be right
 *
 * @example
 * ```ts
 * import { callbackHandler } from 'merchant-payments/fetch';
 *
 * export const POST = callbackHandler({
 *   signingSecret: () => process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
 *   async onPayment({ payment }) {
 *     console.log(payment.merchantPaymentReference, payment.status);
 *   },
 * });
 * ```
 */
export function callbackHandler<Tx = undefined>(
  options: FetchCallbackOptions<Tx>,
): (request: Request) => Promise<Response> {
  const receive = createReceiver(options, createCallbackVerifier);

  return async function handlePaymentCallback(request) {
    const { status, headers } = await receive({
      method: request.method,
      headers: request.headers,
      readBody: (limits) => readWebBody(request, limits),
      getSignal: () => request.signal,
    });
    return new Response(null, { status, headers });
  };
}
