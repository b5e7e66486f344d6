import { InvalidOptionError } from '../errors.js';
import { describeValue } from './describe-value.js';

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
