import { assertSchemaAccepts, type SigningHeaders, type Verification } from '../callback/checks.js';
import { InvalidOptionError, SecretUnavailableError } from '../errors.js';
import { nameFailure } from '../protocol/describe-value.js';
import { secretText } from '../protocol/options.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import { type Awaitable, isPromiseLike, within } from '../protocol/waiting.js';
import type { CallbackReceiverOptions } from './options.js';

/** How long the merchant's `signingSecret` or `recordSchema` may take: if it hangs, callbacks must not wait forever. */
const USER_CODE_TIMEOUT_MS = 10_000;

const withUserCodeTimeout = <Value>(given: PromiseLike<Value>, tooLate: () => Error) =>
  within(USER_CODE_TIMEOUT_MS, given, () => {
    throw tooLate();
  });

/** @throws {CallbackVerificationError} when the merchant's schema does not accept the record */
export async function assertFits(
  payment: PaymentStatusRecord,
  recordSchema: StandardSchemaV1,
): Promise<void> {
  const result = recordSchema['~standard'].validate(payment);
  if (!isPromiseLike(result)) return assertSchemaAccepts(result);
  const message = `recordSchema returned no result within ${USER_CODE_TIMEOUT_MS} ms, so the service got a 500 and retries; set a deadline on everything it waits for`;
  const tooLate = () => new InvalidOptionError('recordSchema', message);
  assertSchemaAccepts(await withUserCodeTimeout(result, tooLate));
}

/** Imports secrets, and returns what verifies a body whose headers were checked. */
export type PrepareSecrets<Secret> = (
  signingSecret: Secret | readonly Secret[],
) => (signing: SigningHeaders, body: string | Uint8Array) => Awaitable<Verification>;

/** How callbacks are verified now. */
export interface CurrentVerifier {
  readonly verify: ReturnType<PrepareSecrets<unknown>>;
  /** What must not be kept with an error. */
  readonly secrets: readonly unknown[];
}

type Secrets<Secret> = Secret | readonly Secret[];

/**
 * Returns a function that gives the verifier for the current signing secret. Imports keys again only when the
 * secret has changed.
 *
 * @param onMissing called at once if there is no secret
 * @throws {InvalidOptionError} when a fixed secret is invalid
 */
export function createVerifierSource<Secret>(
  signingSecret: CallbackReceiverOptions<unknown, unknown, Secret>['signingSecret'],
  prepareSecrets: PrepareSecrets<Secret>,
  onMissing: (message: string) => void,
): () => Awaitable<CurrentVerifier> {
  const create = (given: Secrets<Secret>): CurrentVerifier => ({
    verify: prepareSecrets(given),
    secrets: [given].flat(),
  });
  let last: CurrentVerifier | undefined;
  if (signingSecret === undefined) {
    // No error yet: frameworks load routes while they build, where the secret may not be available.
    if (isMissing(readEnvironment())) {
      onMissing(`${MISSING}, so each callback gets a 500; ${REMEDY}`);
    }
    return () => {
      last ??= create(readVariable() as Secret);
      return last;
    };
  }
  if (typeof signingSecret !== 'function') {
    const fixed = create(signingSecret);
    return () => fixed;
  }
  const read = signingSecret as () => Awaitable<Secrets<Secret>>;
  return async () => {
    const secrets = [await readSecret(async () => read())].flat() as Secret[];
    if (last === undefined || !areSame(last.secrets, secrets)) last = create(secrets);
    return last;
  };
}

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';
const MISSING = 'signingSecret is missing';
const REMEDY = `set ${VARIABLE} in the environment, or pass signingSecret`;

const isMissing = (secret: string | undefined): secret is undefined | '' => !secret?.trim();

/**
 * Reads the default of `signingSecret`.
 *
 * @throws {InvalidOptionError} naming the variable when it is missing or unusable
 */
function readVariable(): string {
  const secret = readEnvironment();
  if (!isMissing(secret)) return secretText(secret, VARIABLE);
  throw new InvalidOptionError(
    'signingSecret',
    `${MISSING}, so the callback was not verified, and the service retries; ${REMEDY}`,
  );
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

function areSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  // The bytes in an array may have changed.
  const isSame = (secret: unknown, index: number) =>
    secret === before[index] && !ArrayBuffer.isView(secret);
  return before.length === now.length && now.every(isSame);
}
