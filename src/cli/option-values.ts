import { createReadStream } from 'node:fs';
import { describeValue } from '../protocol/describe-value.js';
import { SECONDS_END } from '../protocol/instant.js';
import { trimEnd } from '../protocol/trim-end.js';
import { httpUrl } from '../protocol/url.js';
import { list, type Option, parsed, text, UsageError, withDefault } from './command.js';
import { pathOf, printNote, type Terminal } from './terminal.js';

/** Describes a text for a message. Quotes only numbers: other text may be a secret. */
const received = (text: string): string =>
  `received ${/^-?\d{1,20}(?:\.\d{1,20})?$/.test(text) ? text : describeValue(text)}`;

/** As `received`, where no secret is expected: quotes a short word too. */
const receivedWord = (text: string): string =>
  /^[\w.:,+-]{1,12}$/.test(text) ? `received ${text}` : received(text);

interface WholeNumberRange {
  readonly min: number;
  readonly max: number;
}

/** @throws {UsageError} unless `text` is a whole number in the range, in plain digits */
export function parseWholeNumber(
  name: string,
  text: string,
  { min, max }: WholeNumberRange,
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(
    `${name} must be a whole number from ${min} to ${max}, in digits; ${receivedWord(text)}`,
  );
}

/** @throws {UsageError} naming the values that are allowed */
export function parseOneOf<const Value extends string>(
  name: string,
  text: string,
  allowed: readonly Value[],
): Value {
  const found = allowed.find((value) => value === text);
  if (found !== undefined) return found;
  throw new UsageError(`${name} must be one of ${allowed.join(', ')}; ${receivedWord(text)}`);
}

const HOST_AND_PATH = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d{1,5})?(?:\/[\w./-]{0,100})?$/;

/** @throws {InvalidOptionError | UsageError} unless `text` is an http or https URL without credentials */
export function parseHttpUrl(name: string, text: string): URL {
  if (!HOST_AND_PATH.test(text)) return httpUrl(text, name);
  throw new UsageError(`${name} must begin with http:// or https://; give http://${text}`);
}

/** @throws {UsageError} unless `text` is three capital letters */
export function parseCurrency(name: string, text: string): string {
  if (/^[A-Z]{3}$/.test(text)) return text;
  throw new UsageError(`${name} must be three capital letters, such as EUR`);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Returns the milliseconds of a duration such as `500ms`, `1s`, `1.5h`, `2d`. */
export function parseDuration(name: string, text: string, maxMs: number): number {
  const [, count, unit] = /^(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new UsageError(
      `${name} must be a number with its unit ms, s, m, h or d, such as 500ms, 90s or 2d; ${receivedWord(text)}`,
    );
  }
  const ms = Math.round(Number(count) * (UNIT_MS[unit] as number));
  if (ms > maxMs) {
    throw new UsageError(
      `${name} must be at most ${formatDuration(maxMs)}; received ${formatDuration(ms)}`,
    );
  }
  return ms;
}

/** Formats a duration in the largest unit that divides it: 90000 is `90s`. */
export function formatDuration(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((one) => ms !== 0 && ms % (UNIT_MS[one] as number) === 0);
  return unit === undefined ? `${ms}ms` : `${ms / (UNIT_MS[unit] as number)}${unit}`;
}

/** Splits texts of the form `name=value` at the first equals sign; a value may be empty. */
export function readPairs(option: string, texts: readonly string[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const given of texts) {
    const end = given.indexOf('=');
    if (end <= 0) {
      throw new UsageError(`${option} must be of the form name=value; ${received(given)}`);
    }
    const name = given.slice(0, end);
    if (pairs.has(name)) throw new UsageError(`${option} ${name} was given twice`);
    pairs.set(name, given.slice(end + 1));
  }
  return pairs;
}

// A JSON number without an exponent.
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** The number of significant decimal digits that a double always keeps. */
const EXACT_DIGITS = 15;

/** Parses a number that JSON keeps digit by digit. */
export function parseExactDecimal(name: string, text: string): number {
  if (!DECIMAL.test(text)) {
    throw new UsageError(
      `${name} must be a decimal number such as 100 or 12.50; ${received(text)}`,
    );
  }
  const significant = (text.includes('.') ? trimEnd(text, '0') : text).replace(/[-.]/g, '');
  if (significant.replace(/^0+/, '').length <= EXACT_DIGITS) return Number(text);
  throw new UsageError(
    `${name} has more digits than a JSON number keeps exactly (${EXACT_DIGITS} significant digits)`,
  );
}

/** Parses JSON, or returns the text itself if it is not JSON. */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;

/** Returns the epoch milliseconds of Unix seconds, or of an ISO 8601 date-time with an offset. */
export function parseInstant(name: string, text: string): number {
  if (/^\d{1,15}(?:\.\d{1,9})?$/.test(text)) {
    const seconds = Number(text);
    if (seconds < SECONDS_END) return seconds * 1000;
    throw new UsageError(`${name} looks like milliseconds: give Unix seconds`);
  }
  const ms = ISO_WITH_OFFSET.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new UsageError(
    `${name} must be Unix seconds, or a date-time with an offset such as 2026-01-31T12:00:00Z; ${received(text)}`,
  );
}

interface FieldRules {
  /** Fields that another flag sets. */
  readonly flagOfField?: Readonly<Record<string, string>>;
  /** Fields whose value is text even if it looks like JSON. */
  readonly texts?: readonly string[];
}

/** Returns the fields of an option that takes `name=value`. */
export function readFields(
  option: string,
  given: readonly string[],
  { flagOfField = {}, texts = [] }: FieldRules = {},
): Readonly<Record<string, unknown>> {
  const pairs = [...readPairs(option, given)];
  const taken = pairs.find(([name]) => Object.hasOwn(flagOfField, name))?.[0];
  if (taken !== undefined) {
    throw new UsageError(`${option} ${taken} is not allowed: ${flagOfField[taken]} sets it`);
  }
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, texts.includes(name) ? value : parseJsonOrText(value)]),
  );
}

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';
const HELP = `The signing secret. Default: ${VARIABLE}, which is safer: a flag is visible in the process list.`;

/** `--signing-secret` of commands that sign. */
export const signingSecretOption = text({ value: 'secret', help: HELP });

/** `--signing-secret` of commands that verify. */
export const signingSecretsOption = list({
  value: 'secret',
  help: `${HELP} May be repeated while secrets rotate.`,
  sets: 'signingSecret',
});

/** Returns the given signing secret, or the one in the environment. */
export function requireSigningSecret(given: string | undefined, { env }: Terminal): string {
  const secret = given ?? env[VARIABLE];
  if (secret !== undefined && secret !== '') return secret;
  throw new UsageError(
    `the signing secret is missing: set ${VARIABLE} in the environment or in .env, or give --dotenv or --signing-secret`,
  );
}

/** An option with a fixed set of values. */
export const oneOf = <const Value extends string>(
  help: string,
  values: readonly [Value, ...Value[]],
  sets?: string,
): Option<Value | undefined> =>
  parsed({ value: values.join('|'), help, ...(sets !== undefined && { sets }) }, (name, given) =>
    parseOneOf(name, given, values),
  );

/** An option with a fixed set of values; the first is the default. */
export const choice = <const Value extends string>(
  help: string,
  values: readonly [Value, ...Value[]],
): Option<Value> => withDefault(oneOf(`${help} Default: ${values[0]}`, values), values[0]);

export const signatureEncodingOption = choice('The encoding of the signature.', [
  'hex',
  'base64',
  'base64url',
]);

export const timestampUnitOption = choice('The unit of X-Timestamp.', ['seconds', 'milliseconds']);

/** A whole number in a range, which the help must state; `undefined` when it is missing. */
export const wholeNumber = (
  help: { readonly value: string; readonly help: string; readonly sets?: string },
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): Option<number | undefined> =>
  parsed(help, (name, given) => parseWholeNumber(name, given, { min, max }));

export const hostOption = withDefault(
  text({
    value: 'address',
    help: 'The address to listen on. Default: 127.0.0.1, which only this machine reaches.',
  }),
  '127.0.0.1',
);

/** Larger than any callback; a wrong file must not fill the memory. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** Reads the exact bytes of a callback from a file, or from standard input for `-`. The option is for messages. */
export async function readInput(
  { option, path }: Readonly<Record<'option' | 'path', string>>,
  terminal: Terminal,
): Promise<Buffer> {
  const isStdin = path === '-';
  if (isStdin && terminal.stdin.isTTY) {
    printNote(
      terminal,
      'reading the callback from standard input; press Ctrl-D on an empty line to end it',
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of isStdin ? terminal.stdin : createReadStream(pathOf(terminal, path))) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > MAX_INPUT_BYTES) break;
      chunks.push(bytes);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UsageError(
      `${option}: reading ${isStdin ? 'standard input' : path} failed with ${code}`,
    );
  }
  if (size <= MAX_INPUT_BYTES) return Buffer.concat(chunks);
  throw new UsageError(`${option}: the callback may have at most ${MAX_INPUT_BYTES} bytes`);
}
