import * as z from 'zod/mini';
import type { InvalidOptionError } from '../errors.js';
import { describeQuantity } from './describe-value.js';
import { type NotJson, writeJson } from './json.js';
import {
  findUnknown,
  invalidOption,
  isQuotable,
  isWholeNumberIn,
  listed,
  unknownOption,
  type WholeNumberRange,
  wholeNumbersIn,
} from './options.js';
import { type Finding, fields, type Hints, run, type Shape } from './schema.js';

// Schemas for data that developers write: a misspelt field would have no effect, so it is refused, and the first
// mistake is reported as that of an option is.

/** An object with these fields and no others. */
export function strictFields<const Fields extends Shape>(
  shape: Fields,
  expected = `an object with ${Object.keys(shape).join(', ')}`,
) {
  const known = Object.keys(shape);
  return fields(shape, expected, (value): UnknownField | undefined => {
    const unknown = findUnknown(value, known);
    return unknown === undefined ? undefined : { unknown, known };
  });
}

interface UnknownField extends Hints {
  readonly unknown: string;
  readonly known: readonly string[];
}

const TEXT = 'a string that is not empty';
export const text = z.string(TEXT).check(z.refine((value) => value.trim() !== '', TEXT));

export const oneOf = <const Values extends readonly string[]>(...values: Values) =>
  z.enum(values, `one of ${listed(values)}`);

/** @param orInfinity whether `Infinity` is accepted too */
export const wholeNumber = (range: WholeNumberRange, orInfinity = false) =>
  z.custom<number>(
    (value) => isWholeNumberIn(value, range) || (orInfinity && value === Number.POSITIVE_INFINITY),
    { error: wholeNumbersIn(range), params: { received: describeQuantity } satisfies Hints },
  );

/** Any JSON value. The schema returns a copy, so that later changes to the caller's object have no effect. */
export const json = z.transform((value: unknown, { issues }): unknown => {
  try {
    return JSON.parse(writeJson(value));
  } catch (error) {
    const { path, expected, received } = error as NotJson;
    const params: Hints = { received: () => received };
    issues.push({ code: 'custom', message: expected, input: value, path: [...path], params });
    return undefined;
  }
});

/**
 * Writes a value as JSON.
 *
 * @throws {InvalidOptionError} naming the place, for what JSON does not carry
 */
export function writeStrictly(value: unknown, owner: string): string {
  try {
    return writeJson(value);
  } catch (error) {
    const { path, expected, received } = error as NotJson;
    throw invalidOption(path.reduce(joinNames, owner), expected, null, '', received);
  }
}

/**
 * Returns what the schema makes of a value.
 *
 * @param owner name of the value; without one, its fields are named alone
 * @throws {InvalidOptionError} for the first thing that is wrong with it
 */
export function parseStrictly<Output>(
  schema: z.ZodMiniType<Output>,
  value: unknown,
  owner = '',
): Output {
  const result = run(schema, value);
  if (result.findings === undefined) return result.output;
  throw toOptionError(result.findings[0] as Finding, owner);
}

function toOptionError(
  { path, expected, value, hints }: Finding,
  owner: string,
): InvalidOptionError {
  const option = path.reduce(joinNames, owner);
  if (isUnknownField(hints)) {
    return unknownOption(hints.unknown, hints.known, option === '' ? '' : `${option}.`);
  }
  return invalidOption(option || 'options', expected, value, '', hints.received?.(value));
}

const isUnknownField = (hints: Hints): hints is UnknownField => Object.hasOwn(hints, 'unknown');

function joinNames(owner: string, key: PropertyKey): string {
  if (typeof key !== 'string' || !isQuotable(key)) return `${owner}[…]`;
  return owner === '' ? key : `${owner}.${key}`;
}
