import type { CallbackRequest, VerifiedCallback } from '../callback/options.js';
import { InvalidOptionError, SecretUnavailableError } from '../errors.js';
import type { Awaitable } from '../protocol/awaitable.js';
import { nameFailure } from '../protocol/describe-value.js';
import { secretText } from '../protocol/options.js';
import type { CallbackReceiverOptions } from './options.js';
import { USER_CODE_TIMEOUT_MS, withUserCodeTimeout } from './user-code-timeout.js';

export type Verifier = (request: CallbackRequest) => Awaitable<VerifiedCallback>;
export type CreateVerifier<Secret> = (signingSecret: Secret | readonly Secret[]) => Verifier;

type SecretOption<Secret> = Pick<
  CallbackReceiverOptions<unknown, unknown, Secret>,
  'signingSecret'
>;

/**
 * Returns a function that gives the verifier for the current signing secret. Imports keys again only when the
 * secret has changed.
 *
 * @throws {InvalidOptionError} when a fixed secret is invalid
 */
export function createVerifierSource<Secret>(
  options: SecretOption<Secret>,
  createVerifier: CreateVerifier<Secret>,
): () => Awaitable<Verifier> {
  const { signingSecret } = options;
  if (signingSecret === undefined) {
    let verifier: Verifier | undefined;
    return () => {
      verifier ??= createVerifier(readVariable() as Secret);
      return verifier;
    };
  }
  if (!isFunction(signingSecret)) {
    const verifier = createVerifier(signingSecret);
    return () => verifier;
  }
  let last: { readonly secrets: readonly Secret[]; readonly verifier: Verifier } | undefined;
  return async () => {
    const present = await readSecret(async () => signingSecret());
    // A copy, since the caller may change the list in place.
    const secrets: readonly Secret[] = Array.isArray(present) ? [...present] : [present as Secret];
    if (last === undefined || !areSame(last.secrets, secrets)) {
      last = { secrets, verifier: createVerifier(secrets) };
    }
    return last.verifier;
  };
}

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';

/**
 * Reads the default of `signingSecret`.
 *
 * @throws {InvalidOptionError} naming the variable when it is missing or unusable
 */
function readVariable(): string {
  const secret = readEnvironment();
  if (secret !== undefined && secret.trim() !== '') return secretText(secret, VARIABLE);
  const message = `signingSecret is missing, so the callback was not verified, and the service retries; set ${VARIABLE} in the environment, or pass signingSecret`;
  throw new InvalidOptionError('signingSecret', message);
}

/** Undefined in a runtime without variables, or that does not allow this one to be read. */
function readEnvironment(): string | undefined {
  try {
    return globalThis.process?.env?.[VARIABLE];
  } catch {
    return undefined;
  }
}

async function readSecret<Value>(read: () => Promise<Value>): Promise<Value> {
  const reading = read().catch((error: unknown) => {
    // Without the error itself: a parser's error can quote the secret.
    throw unavailable(`signingSecret failed${nameFailure(error)}`);
  });
  return withUserCodeTimeout(reading, () =>
    unavailable(`signingSecret returned no secret within ${USER_CODE_TIMEOUT_MS} ms`),
  );
}

function unavailable(what: string): SecretUnavailableError {
  return new SecretUnavailableError(
    'signingSecret',
    `${what}, so the callback was not verified, and the service retries; cache a secret that is slow to fetch`,
  );
}

function isFunction<Secret>(
  signingSecret: SecretOption<Secret>['signingSecret'],
): signingSecret is () => Awaitable<Secret | readonly Secret[]> {
  return typeof signingSecret === 'function';
}

function areSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return (
    before.length === now.length &&
    // The bytes in an array may have changed.
    now.every((secret, index) => secret === before[index] && !ArrayBuffer.isView(secret))
  );
}
