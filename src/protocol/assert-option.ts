import { InvalidOptionError } from '../errors.js';
import { describeValue } from './describe-value.js';
import { nearest } from './nearest.js';

interface WholeNumberRange {
  readonly min: number;
  readonly max?: number;
  /** What one of it is, in the plural: `milliseconds`. */
  readonly unit: string;
}

/**
 * NaN, negative and fractional values fail here rather than as a timer that fires at once.
 *
 * @throws {InvalidOptionError} naming the option, the range and what came
 */
export function assertWholeNumber(
  option: string,
  value: unknown,
  { min, max = Number.MAX_SAFE_INTEGER, unit }: WholeNumberRange,
): asserts value is number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  const came = typeof value === 'number' ? String(value) : describeValue(value);
  throw new InvalidOptionError(
    option,
    `${option} must be a whole number of ${unit} ${range}, but ${came} came`,
  );
}

/** The longest delay a Node timer takes, in milliseconds (24.8 days); a longer one fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** @throws {InvalidOptionError} naming the option */
export function assertDate(option: string, value: unknown): asserts value is Date {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  const came = value instanceof Date ? 'an invalid one' : describeValue(value);
  throw new InvalidOptionError(option, `${option} must be a valid Date, but ${came} came`);
}

/** @throws {InvalidOptionError} naming the option and its values */
export function assertOneOf(option: string, value: unknown, allowed: readonly string[]): void {
  if (typeof value === 'string' && allowed.includes(value)) return;
  const values = allowed.map((one) => `'${one}'`).join(', ');
  throw new InvalidOptionError(
    option,
    `${option} must be one of ${values}, but ${describeValue(value)} came`,
  );
}

/** @throws {InvalidOptionError} naming the option and what it must be */
export function assertFunction(option: string, value: unknown, purpose: string): void {
  if (typeof value === 'function') return;
  throw new InvalidOptionError(
    option,
    `${option} must be a function ${purpose}, but ${describeValue(value)} came`,
  );
}

/** @throws {InvalidOptionError} when `value` is no object at all */
export function assertOptionsObject(option: string, value: unknown, holds: string): void {
  if (typeof value === 'object' && value !== null) return;
  throw new InvalidOptionError(
    option,
    `${option} must be an object with ${holds}, but ${describeValue(value)} came`,
  );
}

/** The names of all options of one kind. The compiler holds it to the interface, in both directions. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

// Longer or stranger names are data that was spread into the options by mistake, and may be a secret.
const QUOTABLE_NAME = /^[A-Za-z][A-Za-z0-9]{0,39}$/;

/**
 * Refuses an option that does not exist: ignored, `timeout` would leave the default of `timeoutMs`
 * in force. An object of a class of the caller's may have fields of its own.
 *
 * @param names - every option that may be given
 * @throws {InvalidOptionError} naming the unknown option and the nearest known one
 */
export function assertKnownOptions(value: object, names: Readonly<Record<string, true>>): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const shown = QUOTABLE_NAME.test(name) ? name : 'one of the names given';
    const meant = QUOTABLE_NAME.test(name) ? nearestOption(name, known) : undefined;
    const remedy = meant === undefined ? `the options are ${known.join(', ')}` : `use ${meant}`;
    throw new InvalidOptionError(shown, `${shown} is not a known option; ${remedy}`);
  }
}

/** What `name` was probably meant to be: nearly the same, or the same with its unit (`timeoutMs`). */
function nearestOption(name: string, known: readonly string[]): string | undefined {
  const word = name.toLowerCase();
  return (
    known.find((option) => option.toLowerCase() === word) ??
    nearest(name, known) ??
    (word.length > 3 ? known.find((option) => option.toLowerCase().includes(word)) : undefined)
  );
}
