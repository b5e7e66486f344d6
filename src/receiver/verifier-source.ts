import { assertSchemaAccepts, type SigningHeaders, type Verification } from '../callback/checks.js';
import type { SigningSecret } from '../callback/options.js';
import { InvalidOptionError, SecretUnavailableError } from '../errors.js';
import { nameFailure } from '../protocol/describe-value.js';
import { readVariable } from '../protocol/environment.js';
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

/** Passes on what the merchant's schema found. */
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
export type PrepareSecrets = (
  signingSecret: Secrets,
) => (signing: SigningHeaders, body: string | Uint8Array) => Awaitable<Verification>;

/** How callbacks are verified now. */
export interface CurrentVerifier {
  readonly verify: ReturnType<PrepareSecrets>;
  /** What must not be kept with an error. */
  readonly secrets: readonly unknown[];
}

type Secrets = SigningSecret | readonly SigningSecret[];

/**
 * Returns a function that gives the verifier for the current signing secret. Imports keys again only when the
 * secret has changed.
 *
 * @param onMissing called at once if there is no secret
 */
export function createVerifierSource(
  signingSecret: CallbackReceiverOptions['signingSecret'],
  prepareSecrets: PrepareSecrets,
  onMissing: (message: string) => void,
): () => Awaitable<CurrentVerifier> {
  const create = (given: Secrets): CurrentVerifier => ({
    verify: prepareSecrets(given),
    secrets: [given].flat(),
  });
  let last: CurrentVerifier | undefined;
  if (signingSecret === undefined) {
    // No error yet: frameworks load routes while they build, where the secret may not be available.
    if (!readVariable(VARIABLE)?.trim()) onMissing(missing('each callback gets a 500'));
    return () => {
      last ??= create(requireVariable());
      return last;
    };
  }
  if (typeof signingSecret !== 'function') {
    const fixed = create(signingSecret);
    return () => fixed;
  }
  const read = signingSecret as () => Awaitable<Secrets>;
  return async () => {
    const secrets = [await readSecret(async () => read())].flat() as SigningSecret[];
    if (last === undefined || !areSame(last.secrets, secrets)) last = create(secrets);
    return last;
  };
}

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';

const missing = (result: string): string =>
  `signingSecret is missing, so ${result}; set ${VARIABLE} in the environment, or pass signingSecret`;

/** The default of `signingSecret`. */
function requireVariable(): string {
  const secret = readVariable(VARIABLE);
  if (secret?.trim()) return secretText(secret, VARIABLE);
  const message = missing('the callback was not verified, and the service retries');
  throw new InvalidOptionError('signingSecret', message);
}

async function readSecret<Value>(read: () => Promise<Value>): Promise<Value> {
  const unavailable = (what: string): SecretUnavailableError => {
    const message = `signingSecret ${what}, so the callback was not verified, and the service retries; cache a secret that is slow to fetch`;
    return new SecretUnavailableError('signingSecret', message);
  };
  const reading = read().catch((error: unknown) => {
    // Without the error itself: a parser's error can quote the secret.
    throw unavailable(`failed${nameFailure(error)}`);
  });
  const tooLate = () => unavailable(`returned no secret within ${USER_CODE_TIMEOUT_MS} ms`);
  return withUserCodeTimeout(reading, tooLate);
}

function areSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  // The bytes in an array may have changed.
  const isSame = (secret: unknown, index: number) =>
    secret === before[index] && !ArrayBuffer.isView(secret);
  return before.length === now.length && now.every(isSame);
}
