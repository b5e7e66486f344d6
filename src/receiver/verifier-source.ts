import type { CallbackRequest, VerifiedCallback } from '../callback/options.js';
import { InvalidOptionError } from '../errors.js';
import type { Awaitable, ReceiverOptions } from './options.js';

export type Verifier = (request: CallbackRequest) => Awaitable<VerifiedCallback>;
export type CreateVerifier<Secret> = (signingSecret: Secret | readonly Secret[]) => Verifier;

type SecretOption<Secret> = Pick<ReceiverOptions<unknown, Secret>, 'signingSecret'>;

const PATIENCE_MS = 10_000;

/**
 * Gives the verifier for the signing secret that holds now. Keys are imported anew only when the
 * secret has changed.
 *
 * @throws {InvalidOptionError} when a fixed secret can't be right
 */
export function createVerifierSource<Secret>(
  options: SecretOption<Secret>,
  createVerifier: CreateVerifier<Secret>,
): () => Awaitable<Verifier> {
  const { signingSecret } = options;
  if (!isFunction(signingSecret)) {
    const verifier = createVerifier(signingSecret);
    return () => verifier;
  }
  let last: { readonly secrets: readonly Secret[]; readonly verifier: Verifier } | undefined;
  return async () => {
    // Called as a method of the options, as which it was written.
    const present = await withinPatience(signingSecret.call(options));
    // A copy: the caller's own list may be changed in place.
    const secrets: readonly Secret[] = Array.isArray(present) ? [...present] : [present as Secret];
    if (last === undefined || !areSame(last.secrets, secrets)) {
      last = { secrets, verifier: createVerifier(secrets) };
    }
    return last.verifier;
  };
}

// A secret store that hangs must not hold every callback for ever.
async function withinPatience<Value>(value: Awaitable<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(
        new InvalidOptionError(
          'signingSecret',
          `signingSecret must give the secret within ${PATIENCE_MS} ms, but it has not; cache what is slow to get`,
        ),
      );
    }, PATIENCE_MS);
  });
  try {
    return await Promise.race([value, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function isFunction<Secret>(
  signingSecret: SecretOption<Secret>['signingSecret'],
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
