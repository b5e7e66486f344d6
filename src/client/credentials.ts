import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';

const REDACTED = '[redacted]';

// The key is a user name, no secret by itself; a short one is a word that honest texts hold too.
const MIN_REDACTED_KEY_LENGTH = 8;

/**
 * The merchant's API key and secret (interface section 5.1). Private fields keep them out of
 * `inspect` and JSON.
 */
export class Credentials {
  readonly #apiKey: string;
  readonly #apiSecret: string;
  readonly #encoded: string;

  /** @throws {InvalidOptionError} naming `apiKey` or `apiSecret`, never showing a value */
  constructor(apiKey: unknown, apiSecret: unknown) {
    this.#apiKey = readCredential('apiKey', apiKey);
    this.#apiSecret = readCredential('apiSecret', apiSecret);
    if (this.#apiKey.includes(':')) {
      throw new InvalidOptionError(
        'apiKey',
        'apiKey must not contain a colon, since HTTP Basic ends the user name there, but it does; see that key and secret were not pasted together',
      );
    }
    this.#encoded = Buffer.from(`${this.#apiKey}:${this.#apiSecret}`).toString('base64');
  }

  /** The value of the Authorization header. */
  get authorization(): string {
    return `Basic ${this.#encoded}`;
  }

  /**
   * Takes every spelling of the credentials, and `requestBody`, out of a text that came from outside:
   * a server may echo what it was sent.
   */
  redact(text: string, requestBody?: string): string {
    const pair = `${this.#apiKey}:${this.#apiSecret}`;
    const needles = [pair, this.#apiSecret].flatMap(spellings);
    if (this.#apiKey.length >= MIN_REDACTED_KEY_LENGTH) needles.push(...spellings(this.#apiKey));
    // First: what remained of a body, once the credentials were out of it, would not be found.
    if (requestBody !== undefined && requestBody !== '') needles.unshift(...spellings(requestBody));
    return needles.reduce((result, needle) => result.replaceAll(needle, REDACTED), text);
  }
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    base64,
    encodeURIComponent(base64),
    // Padding is left off at times; what remains can be decoded all the same.
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
}

function readCredential(option: 'apiKey' | 'apiSecret', value: unknown): string {
  const variable =
    option === 'apiKey' ? 'MERCHANT_PAYMENTS_API_KEY' : 'MERCHANT_PAYMENTS_API_SECRET';
  if (typeof value !== 'string' || value.trim() === '') {
    throw new InvalidOptionError(
      option,
      `${option} must be a string that is not empty, but ${describeValue(value)} came; pass it, or set ${variable} and use PaymentClient.fromEnv()`,
    );
  }
  if (value.trim() !== value) {
    throw new InvalidOptionError(
      option,
      `${option} must not begin or end with white space, but it does; trim it where it is read`,
    );
  }
  if (!value.isWellFormed() || hasControlCharacter(value)) {
    throw new InvalidOptionError(
      option,
      `${option} must not contain control characters or broken characters, but it does; see that it was copied whole and alone`,
    );
  }
  return value;
}

// HTTP Basic forbids them (RFC 7617, section 2).
function hasControlCharacter(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}
