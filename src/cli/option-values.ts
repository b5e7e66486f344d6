import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { describeValue } from '../protocol/describe-value.js';
import { SECONDS_END } from '../protocol/instant.js';
import type { WholeNumberRange } from '../protocol/options.js';
import { httpUrl } from '../protocol/url.js';
import { list, type Option, parsed, text, UsageError, withDefault } from './command.js';
import { pathOf, printNote, type Terminal } from './terminal.js';

/** Describes a text for a message. Quotes a short word alone: other text may be a secret. */
const received = (text: string): string =>
  `received ${/^[\w.:,+-]{1,12}$/.test(text) ? text : describeValue(text)}`;

/** @throws {UsageError} unless `text` is a whole number in the range, in plain digits */
export function parseWholeNumber(
  name: string,
  text: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: Pick<WholeNumberRange, 'min' | 'max'>,
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(
    `${name} must be a whole number from ${min} to ${max}, in digits; ${received(text)}`,
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
  throw new UsageError(`${name} must be one of ${allowed.join(', ')}; ${received(text)}`);
}

const HOST_AND_PATH = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d{1,5})?(?:\/[\w./-]{0,100})?$/;

/** @throws {InvalidOptionError | UsageError} unless `text` is an http or https URL without credentials */
export function parseHttpUrl(name: string, text: string): URL {
  if (!HOST_AND_PATH.test(text)) return httpUrl(text, name);
  throw new UsageError(`${name} must begin with http:// or https://; give http://${text}`);
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
      `${name} must be a number with its unit ms, s, m, h or d, such as 500ms, 90s or 2d; ${received(text)}`,
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

/** Reads the fields of an option that takes `name=value`; a value may be empty. */
export function readFields(
  option: string,
  texts: readonly string[],
  parse = (_name: string, value: string): unknown => parseJsonOrText(value),
): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  for (const given of texts) {
    const end = given.indexOf('=');
    if (end <= 0) {
      throw new UsageError(`${option} must be of the form name=value`);
    }
    const name = given.slice(0, end);
    if (fields.has(name)) throw new UsageError(`${option} ${name} was given twice`);
    fields.set(name, parse(name, given.slice(end + 1)));
  }
  return Object.fromEntries(fields);
}

/** Parses a number as JSON writes it, without an exponent. */
export function parseDecimal(name: string, text: string): number {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return Number(text);
  throw new UsageError(`${name} must be a decimal number such as 100 or 12.50; ${received(text)}`);
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

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';
const HELP = `The signing secret. Default: ${VARIABLE}, which is safer: a flag is visible in the process list.`;

/** `--signing-secret` of commands that sign. */
export const signingSecretOption = text({ value: 'secret', help: HELP });

/** `--signing-secret` of commands that verify. */
export const signingSecretsOption = list({
  value: 'secret',
  help: `${HELP} May be repeated while secrets rotate.`,
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
): Option<Value | undefined> =>
  parsed({ value: values.join('|'), help }, (name, given) => parseOneOf(name, given, values));

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
  help: { readonly value: string; readonly help: string },
  range: Pick<WholeNumberRange, 'min' | 'max'> = {},
): Option<number | undefined> =>
  parsed(help, (name, given) => parseWholeNumber(name, given, range));

/** Reads the exact bytes of a callback from a file, or from standard input for `-`. The option is for messages. */
export async function readInput(
  { option, path }: Readonly<Record<'option' | 'path', string>>,
  terminal: Terminal,
): Promise<Buffer> {
  const { stdin } = terminal;
  if (path === '-' && stdin.isTTY) {
    printNote(
      terminal,
      'reading the callback from standard input; press Ctrl-D on an empty line to end it',
    );
  }
  try {
    return await (path === '-' ? buffer(stdin) : readFile(pathOf(terminal, path)));
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const what = path === '-' ? 'standard input' : path;
    throw new UsageError(`${option}: reading ${what} failed with ${code}`);
  }
}
