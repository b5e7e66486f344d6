import { describe, expect, expectTypeOf, it } from 'vitest';
import { InvalidOptionError } from '../../src/errors.js';
import { json } from '../../src/protocol/json.js';
import {
  boolean,
  clock,
  date,
  func,
  givenName,
  listOf,
  type OptionRules,
  objectOf,
  oneOf,
  optional,
  type Rule,
  resolveOptions,
  secretText,
  standardSchema,
  text,
  timerMs,
  trimmedText,
  wholeNumber,
  withDefault,
  withMethods,
} from '../../src/protocol/options.js';

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidOptionError) return `${error.option}: ${error.message}`;
    throw error;
  }
  throw new Error('expected a failure, but it succeeded');
}

const refusal = (rule: Rule<unknown>, value: unknown, option = 'limit'): string =>
  messageOf(() => rule(value, option));

interface Sample {
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  timestampUnit?: 'seconds' | 'milliseconds' | undefined;
  toleranceSeconds?: number | undefined;
}

const rules = {
  timeoutMs: withDefault(30_000, timerMs()),
  maxRetries: withDefault(2, wholeNumber({ unit: 'retries' })),
  timestampUnit: withDefault('seconds', oneOf('seconds', 'milliseconds')),
  toleranceSeconds: optional(wholeNumber({ unit: 'seconds' })),
} satisfies OptionRules<Sample>;

describe('resolveOptions', () => {
  it('gives values and defaults, frozen, by the types of the rules', () => {
    const given = Object.freeze({ timeoutMs: 5, timestampUnit: undefined });
    const resolved = resolveOptions(given, rules);
    expect(resolved).toEqual({
      timeoutMs: 5,
      maxRetries: 2,
      timestampUnit: 'seconds',
      toleranceSeconds: undefined,
    });
    expect(Object.isFrozen(resolved)).toBe(true);
    expectTypeOf(resolved).toEqualTypeOf<{
      readonly timeoutMs: number;
      readonly maxRetries: number;
      readonly timestampUnit: 'seconds' | 'milliseconds';
      readonly toleranceSeconds: number | undefined;
    }>();
    // @ts-expect-error a rule is missing
    expect({ timeoutMs: rules.timeoutMs } satisfies OptionRules<Sample>).toBeDefined();
    // @ts-expect-error a rule without an option
    expect({ ...rules, retries: text } satisfies OptionRules<Sample>).toBeDefined();
  });

  it('names all options if the required ones are not given, and their owner', () => {
    expect(messageOf(() => resolveOptions(7, rules))).toContain(
      'an object with timeoutMs, maxRetries, timestampUnit, toleranceSeconds',
    );
    const fault = (value: unknown) =>
      messageOf(() => resolveOptions(value, rules, { owner: 'fault' }));
    expect(fault(7)).toMatch(/^fault: fault must be an object with timeoutMs, /);
    expect(fault({ maxRetries: -1 })).toBe(
      'fault.maxRetries: fault.maxRetries must be a whole number of retries from 0; received -1',
    );
    expect(fault({ timeout: 1 })).toBe(
      'fault.timeout: fault.timeout is not a known option; use fault.timeoutMs',
    );
  });

  it.each([
    ['timeout', 'use timeoutMs'],
    ['TIMEOUTMS', 'use timeoutMs'],
    ['timeXYZMs', 'the options are timeoutMs, maxRetries, timestampUnit, toleranceSeconds'],
    ['xyz', 'the options are timeoutMs, maxRetries, timestampUnit, toleranceSeconds'],
    ['toString', 'the options are timeoutMs, maxRetries, timestampUnit, toleranceSeconds'],
  ])('refuses %s', (name, remedy) => {
    expect(messageOf(() => resolveOptions({ [name]: 1 }, rules))).toBe(
      `${name}: ${name} is not a known option; ${remedy}`,
    );
  });

  it('means the closest of two names', () => {
    const near = { listen: text, list: text };
    expect(messageOf(() => resolveOptions({ lists: 1 }, near))).toMatch(/use list$/);
  });

  it('does not quote a name that may be data', () => {
    for (const name of ['sk_live_0123456789', 'k'.repeat(41)]) {
      const message = messageOf(() => resolveOptions({ [name]: 1 }, rules));
      expect(message).toMatch(/^one of the names given: one of the names given is not a known/);
      expect(message).not.toContain(name);
    }
  });

  it('takes an object without a prototype, and reads no inherited field', () => {
    const bare = Object.assign(Object.create(null) as object, { timeoutMs: 8 });
    expect(resolveOptions(bare, rules).timeoutMs).toBe(8);
    const heir = Object.create({ timeoutMs: 8 }) as object;
    expect(resolveOptions(heir, rules).timeoutMs).toBe(30_000);
  });
});

describe('objectOf', () => {
  const rule = objectOf({
    delayMs: wholeNumber({ min: 1, max: 9, unit: 'milliseconds' }),
    mode: withDefault('one', oneOf('one', 'two')),
    note: optional(text),
    body: optional(json),
    inner: optional(objectOf({ at: text })),
  });
  const read = (value: unknown) => rule(value, 'fault');
  const refused = (value: unknown): string => {
    try {
      read(value);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('nothing was thrown');
  };

  it('returns a copy with the defaults', () => {
    const body = { deep: [1] };
    const value = read({ delayMs: 5, body });
    body.deep.push(2);
    expect(value).toEqual({ delayMs: 5, mode: 'one', body: { deep: [1] } });
  });

  const range = 'must be a whole number of milliseconds from 1 to 9';
  it.each([
    [undefined, 'fault is missing; it must be an object with delayMs, mode, note, body, inner'],
    [[], 'fault must be an object with delayMs, mode, note, body, inner; received an empty array'],
    [{}, `fault.delayMs is missing; it ${range}`],
    [{ delayMs: '5' }, `fault.delayMs ${range}; received a string of 1 character`],
    [{ delayMs: 5, body: 5n }, 'fault.body must be a value that JSON can carry; received a bigint'],
    [
      { delayMs: 5, body: { 'planted secret': 5n } },
      'fault.body[…] must be a value that JSON can carry; received a bigint',
    ],
    [{ delayMs: 5, inner: {} }, 'fault.inner.at is missing; it must be a string that is not empty'],
    [
      { delayMs: 5, inner: { att: '' } },
      'fault.inner.att is not a known option; use fault.inner.at',
    ],
    [
      { 'planted secret': 5 },
      'one of the names given is not a known option; the options are delayMs, mode, note, body, inner',
    ],
  ])('refuses %o, with the first thing that is wrong', (value, message) => {
    expect(refused(value)).toBe(message);
  });
});

describe('the other rules', () => {
  it.each<[Rule<unknown>, unknown, string]>([
    [boolean, 1, 'must be true or false; received a number'],
    [text, '', 'must be a string that is not empty; received an empty string'],
    [text, ' \n', 'must be a string that is not empty; received a blank string'],
    [givenName, '', 'must be a string that is not empty; received an empty string'],
    [secretText, 'a\n', 'must not begin or end with white space; trim it where it is read'],
    [secretText, 'a\udfff', 'must not contain broken characters; copy it whole'],
    [trimmedText, 'a ', 'must not begin or end with white space; trim it where it is read'],
    [
      secretText,
      '  ',
      'must be a string that is not empty; received a blank string; check that the variable it is read from is set',
    ],
    [oneOf('a', 'b'), 'c', "must be one of 'a', 'b'; received a string of 1 character"],
    [oneOf('a', 'b'), 'toString', "must be one of 'a', 'b'; received a string of 8 characters"],
    [func('that tells the time'), {}, 'must be a function that tells the time; received an object'],
    [clock, 7, 'must be a function that returns epoch milliseconds; received a number'],
    [
      withMethods('a logger', 'warn', 'error'),
      { warn() {} },
      'must be a logger (with warn, error); received an object',
    ],
    [date, '2026-01-31', 'must be a valid Date; received a string of 10 characters'],
    [date, new Date(Number.NaN), 'must be a valid Date; received an invalid one'],
    [
      standardSchema,
      { '~standard': {} },
      'must be a Standard Schema validator (zod, valibot, arktype, …); received an object',
    ],
    [listOf(timerMs(), 'milliseconds'), 7, 'must be an array of milliseconds; received a number'],
  ])('refuse with a message: %o, %o', (rule, value, says) => {
    expect(refusal(rule, value)).toBe(`limit: limit ${says}`);
  });

  it('copy a list, and name the entry that is invalid', () => {
    const rule = listOf(timerMs(0), 'milliseconds');
    const given = [0, 5];
    const resolved = rule(given, 'retryScheduleMs');
    given.push(-1);
    expect(resolved).toEqual([0, 5]);
    expect(Object.isFrozen(resolved)).toBe(true);
    expect(refusal(rule, given, 'retryScheduleMs')).toContain(
      'retryScheduleMs[2]: retryScheduleMs[2] must be a whole number of milliseconds',
    );
  });

  it('are skipped by optional, and not by a default that was passed', () => {
    expect(optional(boolean)(undefined, 'limit')).toBeUndefined();
    expect(withDefault(true, boolean)(false, 'limit')).toBe(false);
    expect(refusal(withDefault(true, boolean), null)).toContain('received null');
  });
});
