import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../src/errors.js';
import {
  assertDate,
  assertFunction,
  assertKnownOptions,
  assertOneOf,
  assertOptionsObject,
  assertWholeNumber,
} from '../../src/protocol/assert-option.js';

function messageOf(run: () => void): string {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidOptionError) return `${error.option}: ${error.message}`;
    throw error;
  }
  throw new Error('expected a failure, but it succeeded');
}

describe('assertWholeNumber', () => {
  const range = { min: 1, max: 10, unit: 'bytes' };

  it.each([1, 2, 10])('takes %d from 1 to 10', (value) => {
    assertWholeNumber('limit', value, range);
  });

  it('takes the largest safe integer when there is no maximum', () => {
    assertWholeNumber('limit', Number.MAX_SAFE_INTEGER, { min: 0, unit: 'bytes' });
  });

  it.each([
    [0, '0'],
    [11, '11'],
    [-1, '-1'],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['5', 'a string of 1 characters'],
    [5n, 'a bigint'],
    [null, 'null'],
    [undefined, 'nothing'],
    [new Number(5), 'an object'],
  ])('refuses %o', (value, came) => {
    expect(messageOf(() => assertWholeNumber('limit', value, range))).toBe(
      `limit: limit must be a whole number of bytes from 1 to 10, but ${came} came`,
    );
  });

  it('leaves the maximum out of the message when there is none', () => {
    expect(messageOf(() => assertWholeNumber('limit', -1, { min: 0, unit: 'bytes' }))).toBe(
      'limit: limit must be a whole number of bytes from 0, but -1 came',
    );
  });
});

describe('assertOneOf', () => {
  it('takes one of the values', () => {
    assertOneOf('mode', 'b', ['a', 'b']);
  });

  it.each([['c'], ['toString'], [''], [0], [['a']], [undefined]])('refuses %o', (value) => {
    expect(messageOf(() => assertOneOf('mode', value, ['a', 'b']))).toMatch(
      /^mode: mode must be one of 'a', 'b', but .* came$/,
    );
  });
});

describe('assertFunction', () => {
  it('takes a function', () => {
    assertFunction('now', () => 0, 'that tells the time');
  });

  it.each([[undefined], [{}], ['now']])('refuses %o', (value) => {
    expect(messageOf(() => assertFunction('now', value, 'that tells the time'))).toMatch(
      /^now: now must be a function that tells the time, but .* came$/,
    );
  });
});

describe('assertOptionsObject', () => {
  it('takes an object', () => {
    assertOptionsObject('options', {}, 'a name');
    assertOptionsObject('options', Object.create(null), 'a name');
  });

  it.each([[undefined], [null], ['options'], [7], [() => ({})]])('refuses %o', (value) => {
    expect(messageOf(() => assertOptionsObject('options', value, 'a name'))).toMatch(
      /^options: options must be an object with a name, but .* came$/,
    );
  });
});

describe('assertDate', () => {
  it('takes a valid Date', () => {
    expect(() => assertDate('olderThan', new Date(0))).not.toThrow();
  });

  it.each([
    [new Date(Number.NaN), 'an invalid one'],
    ['2026-01-31', 'a string of 10 characters'],
    [undefined, 'nothing'],
  ])('refuses %s and names the option', (value, came) => {
    expect(() => assertDate('olderThan', value)).toThrow(
      expect.objectContaining({
        option: 'olderThan',
        message: `olderThan must be a valid Date, but ${came} came`,
      }),
    );
  });
});

describe('assertKnownOptions', () => {
  const names = {
    timeoutMs: true,
    maxRetries: true,
    onStale: true,
    toleranceSeconds: true,
  } as const;

  it('takes the known ones, and an object of a class with fields of its own', () => {
    assertKnownOptions({ timeoutMs: 1, onStale: undefined }, names);
    assertKnownOptions(Object.create(null) as object, names);
    assertKnownOptions(
      new (class {
        database = 1;
      })(),
      names,
    );
  });

  it.each([
    ['timeout', 'use timeoutMs'],
    ['retries', 'use maxRetries'],
    ['onStal', 'use onStale'],
    ['tolerance', 'use toleranceSeconds'],
    ['TIMEOUTMS', 'use timeoutMs'],
    ['xyz', 'the options are timeoutMs, maxRetries, onStale, toleranceSeconds'],
  ])('refuses %s', (name, remedy) => {
    expect(messageOf(() => assertKnownOptions({ [name]: 1 }, names))).toBe(
      `${name}: ${name} is not a known option; ${remedy}`,
    );
  });

  it('does not quote a name that may be data', () => {
    const secret = 'sk_live_0123456789';
    expect(messageOf(() => assertKnownOptions({ [secret]: 1 }, names))).not.toContain(secret);
  });
});
