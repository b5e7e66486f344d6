import { InvalidOptionError, SecretUnavailableError } from '../errors.js';
import { nameFailure } from '../protocol/describe-value.js';
import { MOCK_API_SECRET } from '../protocol/mock-secrets.js';
import { invalidOption, type Rule, secretText } from '../protocol/options.js';
import { Redactor } from '../protocol/redaction.js';

/** A credential, or a function that returns the current one. */
export type Credential = string | (() => string | PromiseLike<string>);

// The key is a user name, not a secret; a short one may be a word that occurs in ordinary texts.
const MIN_REDACTED_KEY_LENGTH = 8;

/**
 * The merchant's API key and secret (interface section 5.1). Private fields keep them out of
 * `inspect` and JSON.
 */
export class Credentials {
  readonly #authorization: string;
  /** Removes them from texts of a server. */
  readonly redactor: Redactor;

  constructor(apiKey: string, apiSecret: string) {
    const pair = `${apiKey}:${apiSecret}`;
    const encoded = Buffer.from(pair).toString('base64');
    this.#authorization = `Basic ${encoded}`;
    const secrets = [pair, encoded, apiSecret];
    if (apiKey.length >= MIN_REDACTED_KEY_LENGTH) secrets.push(apiKey);
    this.redactor = new Redactor(secrets);
  }

  /** The value of the Authorization header. */
  get authorization(): string {
    return this.#authorization;
  }
}

/** Where `PaymentClient.fromEnv()` reads options that are not passed. */
export const variables = {
  baseUrl: 'MERCHANT_PAYMENTS_BASE_URL',
  apiKey: 'MERCHANT_PAYMENTS_API_KEY',
  apiSecret: 'MERCHANT_PAYMENTS_API_SECRET',
} as const;

/** What to do about an option that was not passed to the constructor. */
export const orFromEnv = (option: keyof typeof variables): string =>
  `pass it, or set ${variables[option]} and use PaymentClient.fromEnv()`;

/** @throws {InvalidOptionError} unless it is a credential or a function; the message never shows the value */
export const credential: Rule<Credential> = (value, option) =>
  typeof value === 'function' ? (value as () => string) : credentialText(value, option);

const credentialText: Rule<string> = (value, option) => {
  if (typeof value !== 'string' || value.trim() === '') {
    const remedy = orFromEnv(option as keyof typeof variables);
    throw invalidOption(option, 'a string that is not empty', value, remedy);
  }
  secretText(value, option);
  const refuse = (what: string) =>
    new InvalidOptionError(option, `${option} must not contain ${what}`);
  // HTTP Basic forbids control characters (RFC 7617, section 2).
  if (/\p{Cc}/u.test(value)) {
    throw refuse('control characters; copy the whole value and nothing else');
  }
  if (option === 'apiSecret' || !value.includes(':')) return value;
  throw refuse('a colon, where HTTP Basic ends the user name; leave the secret out of it');
};

/**
 * Reads the credentials of a call, from the user's functions where they are such.
 *
 * @throws {SecretUnavailableError} when a function fails
 * @throws {InvalidOptionError} when it returns something that is not a credential, or the mock's for another machine
 */
export async function readCredentials(
  apiKey: Credential,
  apiSecret: Credential,
  isOnThisMachine: boolean,
): Promise<Credentials> {
  const [key, secret] = await Promise.all([
    readCredential('apiKey', apiKey),
    readCredential('apiSecret', apiSecret),
  ]);
  if (!isOnThisMachine) assertOwnSecret(secret);
  return new Credentials(key, secret);
}

async function readCredential(option: string, given: Credential): Promise<string> {
  if (typeof given === 'string') return given;
  let value: unknown;
  try {
    value = await given();
  } catch (error) {
    // Without the error itself: a parser's can quote the secret.
    throw new SecretUnavailableError(
      option,
      `${option} could not be read: its function failed${nameFailure(error)}. Nothing was sent: it is safe to try again.`,
      { requestOutcome: 'not-sent', safeToRetry: true },
    );
  }
  return credentialText(value, option);
}

/** @throws {InvalidOptionError} for the API secret that every copy of the mock has; not for a service on this machine */
export function assertOwnSecret(apiSecret: Credential): void {
  if (apiSecret !== MOCK_API_SECRET) return;
  throw new InvalidOptionError(
    'apiSecret',
    `apiSecret must be your account's where baseUrl is another machine; received the mock's, which is public: set ${variables.apiSecret}, or give the mock its own`,
  );
}
