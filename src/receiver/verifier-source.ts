import type { CallbackRequest, VerifiedCallback } from '../callback/options.js';
import type { Awaitable, ReceiverOptions } from './options.js';

export type Verifier = (request: CallbackRequest) => Awaitable<VerifiedCallback>;
export type CreateVerifier<Secret> = (signingSecret: Secret | readonly Secret[]) => Verifier;

/**
 * Gives the verifier for the signing secret that holds now. Keys are imported anew only when the
 * secret has changed.
 *
 * @throws {InvalidOptionError} when a fixed secret can't be right
 */
export function createVerifierSource<Secret>(
  signingSecret: ReceiverOptions<unknown, Secret>['signingSecret'],
  createVerifier: CreateVerifier<Secret>,
): () => Awaitable<Verifier> {
  if (!isFunction(signingSecret)) {
    const verifier = createVerifier(signingSecret);
    return () => verifier;
  }
  let last: { readonly secrets: readonly Secret[]; readonly verifier: Verifier } | undefined;
  return async () => {
    const present = await signingSecret();
    // A copy: the caller's own list may be changed in place.
    const secrets: readonly Secret[] = Array.isArray(present) ? [...present] : [present as Secret];
    if (last === undefined || !areSame(last.secrets, secrets)) {
      last = { secrets, verifier: createVerifier(secrets) };
    }
    return last.verifier;
  };
}

function isFunction<Secret>(
  signingSecret: ReceiverOptions<unknown, Secret>['signingSecret'],
): signingSecret is () => Awaitable<Secret | readonly Secret[]> {
  return typeof signingSecret === 'function';
}

function areSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return (
    before.length === now.length &&
    // Bytes may be other ones in the same array.
    now.every((secret, index) => secret === before[index] && !ArrayBuffer.isView(secret))
  );
}
