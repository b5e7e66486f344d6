import type { CallbackRequest, ResolvedPolicy, VerifiedCallback } from '../../callback/options.js';
import {
  createCallbackVerifier,
  type SigningSecret,
  type VerifyCallbackOptions,
} from '../../callback/verify.js';
import { CallbackVerificationError, InvalidOptionError } from '../../errors.js';
import { assertOptionsObject } from '../../protocol/assert-option.js';
import { hasEdgeSpace } from './secret-readings.js';

/** What `verifyCallback` makes of a callback. */
export type Verdict =
  | { readonly verified: VerifiedCallback }
  | { readonly refusal: CallbackVerificationError | InvalidOptionError };

/**
 * Runs the verifier. White space at an edge of a secret is a refusal too, since it can be explained.
 *
 * @throws {InvalidOptionError} for every other option that can't be right
 */
export function runVerifier(
  request: CallbackRequest,
  policy: ResolvedPolicy,
  signingSecret: VerifyCallbackOptions['signingSecret'],
): Verdict {
  // What is refused with the secrets trimmed is refused for something else.
  createCallbackVerifier({ ...policy, signingSecret: trimSecrets(signingSecret) });
  assertOptionsObject('request', request, 'rawBody and headers');
  const verify = createVerifier(policy, signingSecret);
  if (verify instanceof InvalidOptionError) return { refusal: verify };
  try {
    return { verified: verify(request) };
  } catch (error) {
    if (error instanceof CallbackVerificationError) return { refusal: error };
    throw error;
  }
}

function trimSecrets(
  signingSecret: VerifyCallbackOptions['signingSecret'],
): SigningSecret | readonly SigningSecret[] {
  const trim = (secret: SigningSecret) => (hasEdgeSpace(secret) ? secret.trim() : secret);
  return Array.isArray(signingSecret)
    ? signingSecret.map(trim)
    : trim(signingSecret as SigningSecret);
}

function createVerifier(
  policy: ResolvedPolicy,
  signingSecret: VerifyCallbackOptions['signingSecret'],
): ReturnType<typeof createCallbackVerifier> | InvalidOptionError {
  try {
    return createCallbackVerifier({ ...policy, signingSecret });
  } catch (error) {
    if (error instanceof InvalidOptionError) return error;
    throw error;
  }
}
