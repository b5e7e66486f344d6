import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { markBodyEcho } from './body-echo.js';
import { markSpacedParts, REDACTED, type Redaction, redactParts, replaceMarked } from './redact.js';

// The key is a user name, no secret by itself; a short one is a word that honest texts hold too.
const MIN_REDACTED_KEY_LENGTH = 8;

// Less of a credential is of no use, and may be a word of an honest text.
const MIN_CREDENTIAL_PART = 12;

// The service may quote a field, a reference as long as a UUID for example. More than that, or the
// longest name of a field with the beginning of its value, is a part of the body.
const MIN_BODY_PART = 40;

// What is said in more is not searched but cut: a server must not keep the process busy.
const MAX_SEARCHED_LENGTH = 4_096;

// Nor by many texts.
const MAX_SEARCHED_IN_ALL = 4 * MAX_SEARCHED_LENGTH;

// A longer body is not spelled in every way, but the texts are decoded in every way.
const MAX_SPELLED_LENGTH = 2_048;

/**
 * The merchant's API key and secret (interface section 5.1). Private fields keep them out of
 * `inspect` and JSON.
 */
export class Credentials {
  readonly #apiKey: string;
  readonly #apiSecret: string;
  readonly #encoded: string;
  readonly #redactions: readonly Redaction[];

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
    const secrets = [`${this.#apiKey}:${this.#apiSecret}`, this.#apiSecret, this.#encoded];
    if (this.#apiKey.length >= MIN_REDACTED_KEY_LENGTH) secrets.push(this.#apiKey);
    this.#redactions = secrets.flatMap((secret) => toRedactions(secret, MIN_CREDENTIAL_PART));
  }

  /** The value of the Authorization header. */
  get authorization(): string {
    return `Basic ${this.#encoded}`;
  }

  /**
   * Takes every spelling of the credentials, and of `requestBody`, out of a text that came from
   * outside, in whole and in part: a server may echo what it was sent, or the beginning of it.
   */
  redact(text: string, requestBody?: string): string {
    return this.redactAll([text], requestBody)[0] as string;
  }

  /** As {@link Credentials.redact}, for several texts. */
  redactAll(texts: readonly string[], requestBody?: string): string[] {
    let redacted = texts.map((text) =>
      redactParts(text.slice(0, MAX_SEARCHED_LENGTH), this.#redactions),
    );
    if (requestBody) redacted = redactBody(redacted, requestBody);
    // The end may be the beginning of what was cut.
    return redacted.map((text, index) =>
      (texts[index] as string).length > MAX_SEARCHED_LENGTH ? text.slice(0, -MIN_BODY_PART) : text,
    );
  }
}

/** Takes the body out of texts, all at once: each search takes time in proportion to the body. */
function redactBody(texts: readonly string[], body: string): string[] {
  // Most texts are too short to hold a part of the body.
  const minLength = Math.min(MIN_BODY_PART, body.length);
  let left = MAX_SEARCHED_IN_ALL;
  const searched = texts.map((text) => {
    if (text.length < minLength) return '';
    left -= text.length;
    return left < 0 ? '' : text;
  });
  // JSON has no NUL: no part of the body goes over from one text to the next.
  const joined = searched.join('\0');
  if (joined.length < minLength) return texts.map(toShown);
  const marks =
    body.length > MAX_SPELLED_LENGTH
      ? markBodyEcho(joined, body)
      : markSpacedParts(joined, toRedactions(body, MIN_BODY_PART));
  let start = 0;
  return texts.map((text, index) => {
    const { length } = searched[index] as string;
    const own = marks.subarray(start, start + length);
    start += length + 1;
    return length > 0 ? replaceMarked(text, own) : toShown(text);
  });

  /** What was not searched: too short for it, or left out, as a server must not keep the process busy. */
  function toShown(text: string): string {
    return text.length < minLength ? text : REDACTED;
  }
}

function toRedactions(secret: string, minLength: number): Redaction[] {
  return [...new Set(spellings(secret))].map((text) => ({ text, minLength }));
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  const url = encodeURIComponent(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    bytes.toString('latin1'),
    url,
    url.replaceAll(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    json,
    JSON.stringify(json).slice(1, -1),
    // As serializers write JSON that is safe in HTML: Go's, .NET's, and those that escape the most.
    ...[/[<>&]/g, /[<>&'"`+]/g, /[^A-Za-z0-9]/g].flatMap((escaped) =>
      escapeUnicode(secret, escaped),
    ),
    // As a program quotes it that prints a text, with the one or the other quote around.
    secret.replaceAll(/['\\]/g, '\\$&'),
    secret.replaceAll('\\', '\\\\'),
    escapeHtml(secret),
    base64,
    encodeURIComponent(base64),
    // Padding is left off at times; what remains can be decoded all the same.
    base64.replaceAll('=', ''),
    bytes.toString('base64url'),
    ...shiftedBase64(bytes),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
}

function escapeUnicode(text: string, escaped: RegExp): string[] {
  const digits = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0');
  return [
    text.replaceAll(escaped, (character) => `\\u${digits(character)}`),
    text.replaceAll(escaped, (character) => `\\u${digits(character).toUpperCase()}`),
  ];
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Base64 of something that holds the secret: three bytes are four characters, so there are three. */
function shiftedBase64(secret: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret]);
    // Without the characters that what stands before or after has a part in.
    const start = Math.ceil((before * 4) / 3);
    const end = Math.floor((bytes.length * 4) / 3);
    return [bytes.toString('base64'), bytes.toString('base64url')]
      .map((text) => text.slice(start, end))
      .filter((text) => text.length >= MIN_CREDENTIAL_PART);
  });
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
