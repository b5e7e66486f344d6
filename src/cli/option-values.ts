import { describeValue } from '../protocol/describe-value.js';
import { SECONDS_END } from '../protocol/instant.js';
import { trimEnd } from '../protocol/trim-end.js';
import { httpUrl } from '../protocol/url.js';
import { UsageError } from './command.js';

/** Describes a text for a message. Quotes only numbers: other text may be a secret. */
const received = (text: string): string =>
  `received ${/^-?\d{1,20}(?:\.\d{1,20})?$/.test(text) ? text : describeValue(text)}`;

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

/** @throws {InvalidOptionError} unless `text` is an http or https URL without credentials */
export const parseHttpUrl = (name: string, text: string): URL => httpUrl(text, name);

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

/**
 * Returns the milliseconds of a duration such as `500ms`, `1s`, `1.5h`, `2d`.
 *
 * @throws {UsageError} for anything else, or for more than `maxMs`
 */
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

/**
 * Splits `name=value` at the first equals sign; the value may be empty.
 *
 * @throws {UsageError} without an equals sign or a name
 */
export function parsePair(option: string, text: string): { name: string; value: string } {
  const end = text.indexOf('=');
  if (end <= 0) throw new UsageError(`${option} must be of the form name=value; ${received(text)}`);
  return { name: text.slice(0, end), value: text.slice(end + 1) };
}

// A JSON number without an exponent.
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** The number of significant decimal digits that a double always keeps. */
const EXACT_DIGITS = 15;

/**
 * Parses a number that JSON keeps digit by digit.
 *
 * @throws {UsageError} for another notation, or for more digits than a JSON number always keeps
 */
export function parseExactDecimal(name: string, text: string): number {
  if (!DECIMAL.test(text)) {
    throw new UsageError(
      `${name} must be a decimal number such as 100 or 12.50; ${received(text)}`,
    );
  }
  if (countDigits(text) > EXACT_DIGITS) {
    throw new UsageError(
      `${name} has more digits than a JSON number keeps exactly (${EXACT_DIGITS} significant digits)`,
    );
  }
  return Number(text);
}

function countDigits(text: string): number {
  const fraction = text.includes('.') ? trimEnd(text, '0') : text;
  return fraction.replace(/[-.]/g, '').replace(/^0+/, '').length;
}

/**
 * Parses JSON, or returns the text itself if it is not JSON.
 *
 * @throws {UsageError} for a number that JSON does not keep exactly, or for a repeated field
 */
export function parseJsonOrText(name: string, text: string): unknown {
  try {
    return parseExactJson(name, text);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return text;
  }
}

const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * Returns the epoch milliseconds of Unix seconds, or of an ISO 8601 date-time with an offset.
 *
 * @throws {UsageError} for anything else, including Unix milliseconds
 */
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

/**
 * Returns the fields of an option that takes `name=value`.
 *
 * @throws {UsageError} for a repeated field, or for one that another flag sets
 */
export function readFields(
  option: string,
  pairs: readonly string[],
  {
    flagOfField = {},
    isText = () => false,
  }: {
    /** Fields that another flag sets. */
    readonly flagOfField?: Readonly<Record<string, string>>;
    /** Whether the value of a field is text even if it looks like JSON. */
    readonly isText?: (name: string) => boolean;
  } = {},
): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  for (const pair of pairs) {
    const { name, value } = parsePair(option, pair);
    const flag = Object.hasOwn(flagOfField, name) ? flagOfField[name] : undefined;
    if (flag !== undefined)
      throw new UsageError(`${option} ${name} is not allowed: ${flag} sets it`);
    if (fields.has(name)) throw new UsageError(`${option} ${name} was given twice`);
    fields.set(name, isText(name) ? value : parseJsonOrText(`${option} ${name}`, value));
  }
  return Object.fromEntries(fields);
}

const SHOWN_CHARACTERS = 40;

// In valid JSON: strings (keys with their colon), numbers and brackets.
const TOKEN = /("[^"\\]*(?:\\(?:.|$)[^"\\]*)*(?:"|$))(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/gs;

/**
 * Parses JSON that is sent as it was typed: no number changes, no field is lost.
 *
 * @throws {SyntaxError} for invalid JSON
 * @throws {UsageError} for a number that a double does not keep exactly, or for a repeated field
 */
export function parseExactJson(name: string, text: string): unknown {
  const value: unknown = JSON.parse(text);
  const open: Set<string>[] = [];
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (string === undefined) assertExactNumber(name, token);
    else if (colon !== undefined) addKey(name, JSON.parse(string), open.at(-1));
  }
  return value;
}

function addKey(name: string, key: string, keys: Set<string> | undefined): void {
  if (keys?.has(key) === true) {
    throw new UsageError(
      `${name} has the field ${JSON.stringify(shorten(key))} twice in one object: give it once`,
    );
  }
  keys?.add(key);
}

function assertExactNumber(name: string, token: string): void {
  const sent = JSON.stringify(Number(token));
  if (normalize(token) === normalize(sent)) return;
  throw new UsageError(
    `${name} has the number ${shorten(token)}, which would be sent as ${sent}: give a number that JSON keeps exactly, or a string`,
  );
}

const shorten = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Returns the same text for every notation of a number, and other text unchanged. */
function normalize(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return text;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = trimEnd(digits, '0');
  if (significant === '') return '0';
  const zeros = digits.length - significant.length;
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(zeros)}`;
}
