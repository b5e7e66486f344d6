import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import type { VerifiedCallback } from '../callback/options.js';
import { isPromiseLike } from '../callback/record.js';
import { CallbackVerificationError } from '../errors.js';
import type { Awaitable } from '../protocol/awaitable.js';
import { assertBodySize, type BodyLimits } from './body.js';
import type { Caller } from './payment-work.js';
import type { Verifier } from './verifier-source.js';

/** A request, as an adapter provides it. */
export interface IncomingCallback extends Caller {
  readonly method: string;
  readonly headers: CallbackHeaders;
  /**
   * Resolves with the body: the bytes of the wire first, then, if a framework has inflated them, what it kept.
   * Called at most once, and only if the body is needed.
   */
  readBody(limits: BodyLimits): Awaitable<readonly RawBody[]>;
}

interface AuthenticateOptions extends BodyLimits {
  readonly getVerifier: () => Awaitable<Verifier>;
}

/**
 * Reads a request's body and verifies it. Of several forms the first that was signed counts.
 *
 * @throws {UnreadableBody} when the body broke off, took too long or is too large
 * @throws {CallbackVerificationError} when the callback must not be trusted
 */
export async function authenticate(
  options: AuthenticateOptions,
  incoming: IncomingCallback,
): Promise<VerifiedCallback> {
  const bodies = await incoming.readBody(options);
  for (const rawBody of bodies) assertBodySize(rawBody, options.maxBodyBytes);
  // Only promises are awaited: awaiting everything took 8% more CPU.
  const verifying = options.getVerifier();
  const verifier = isPromiseLike(verifying) ? await verifying : verifying;
  let mismatch: unknown;
  for (const rawBody of bodies) {
    try {
      const verified = verifier({ rawBody, headers: incoming.headers });
      return (isPromiseLike(verified) ? await verified : verified) as VerifiedCallback;
    } catch (error) {
      if (!isMismatch(error)) throw error;
      mismatch ??= error;
    }
  }
  throw mismatch;
}

const isMismatch = (error: unknown): boolean =>
  error instanceof CallbackVerificationError && error.code === 'SIGNATURE_MISMATCH';
