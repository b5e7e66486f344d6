import { describeValue } from '../protocol/describe-value.js';
import { SECONDS_END } from '../protocol/instant.js';
import { httpUrl } from '../protocol/url.js';
import { UsageError } from './command.js';

/** What was received, for a message. Of a text only a number is quoted: another one may be a secret. */
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
 * Milliseconds of a duration such as `500ms`, `1s`, `1.5h`, `2d`.
 *
 * @throws {UsageError} for anything else, or more than `maxMs`
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

/** A duration in the largest unit that carries it whole: 90000 is `90s`. */
export function formatDuration(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((one) => ms !== 0 && ms % (UNIT_MS[one] as number) === 0);
  return unit === undefined ? `${ms}ms` : `${ms / (UNIT_MS[unit] as number)}${unit}`;
}

/**
 * The two sides of `name=value`; the value may be empty and hold further equals signs.
 *
 * @throws {UsageError} without an equals sign or a name
 */
export function parsePair(option: string, text: string): { name: string; value: string } {
  const end = text.indexOf('=');
  if (end <= 0) throw new UsageError(`${option} must be of the form name=value; ${received(text)}`);
  return { name: text.slice(0, end), value: text.slice(end + 1) };
}

// What JSON itself allows, without an exponent.
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** Significant decimal digits that every double carries. */
const EXACT_DIGITS = 15;

/**
 * A number for JSON, in the digits that were given.
 *
 * @throws {UsageError} for another notation, or for more digits than a number of JSON carries for sure
 */
export function parseExactDecimal(name: string, text: string): number {
  if (!DECIMAL.test(text)) {
    throw new UsageError(
      `${name} must be a decimal number such as 100 or 12.50; ${received(text)}`,
    );
  }
  if (countDigits(text) > EXACT_DIGITS) {
    throw new UsageError(
      `${name} has more digits than a number of JSON carries exactly (${EXACT_DIGITS} significant ones)`,
    );
  }
  return Number(text);
}

function countDigits(text: string): number {
  const fraction = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return fraction.replace(/[-.]/g, '').replace(/^0+/, '').length;
}

/**
 * A value of JSON, or the text itself where it is not.
 *
 * @throws {UsageError} for a number in it that JSON does not carry exactly, or a field given twice
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
 * Epoch milliseconds of Unix seconds, or of an ISO 8601 date-time with an offset.
 *
 * @throws {UsageError} for anything else, milliseconds among it
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
 * The fields that an option `name=value` gives.
 *
 * @throws {UsageError} for a field given twice, or that another flag gives
 */
export function readFields(
  option: string,
  pairs: readonly string[],
  {
    flagOfField = {},
    isText = () => false,
  }: {
    /** Fields that another option gives. */
    readonly flagOfField?: Readonly<Record<string, string>>;
    /** Fields whose value is a text even where it is JSON. */
    readonly isText?: (name: string) => boolean;
  } = {},
): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  for (const pair of pairs) {
    const { name, value } = parsePair(option, pair);
    const flag = Object.hasOwn(flagOfField, name) ? flagOfField[name] : undefined;
    if (flag !== undefined) throw new UsageError(`${option} ${name} is given by ${flag}`);
    if (fields.has(name)) throw new UsageError(`${option} ${name} was given twice`);
    fields.set(name, isText(name) ? value : parseJsonOrText(`${option} ${name}`, value));
  }
  return Object.fromEntries(fields);
}

const SHOWN_CHARACTERS = 40;

// Of a text that is JSON: strings (keys with their colon), numbers, and what opens and closes.
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/g;

/**
 * A value of JSON that is sent as it was typed: no number of it changes, and no field is lost.
 *
 * @throws {SyntaxError} for what is not JSON
 * @throws {UsageError} for a number that a double does not carry, and for a field that is given twice
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
    `${name} has the number ${shorten(token)}, which would be sent as ${sent}: give one that a number of JSON carries exactly, or a text`,
  );
}

const shorten = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** One text for all ways to write the same number, and the text itself for what is none. */
function normalize(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return text;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const zeros = digits.length - significant.length;
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(zeros)}`;
}
