import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { fields, findIssues } from '../../src/protocol/schema.js';
import {
  json,
  oneOf,
  parseStrictly,
  strictFields,
  text,
  wholeNumber,
} from '../../src/protocol/strict-schema.js';

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
};

describe('fields', () => {
  const schema = fields(
    { name: z.string('a string'), more: z.optional(z.string('a string')) },
    'an object',
  );

  it('finds what is wrong with each field, and does not quote it', () => {
    expect(findIssues(schema, { name: 5, more: ['planted'] })).toEqual([
      { path: ['name'], message: 'must be a string, received a number' },
      { path: ['more'], message: 'must be a string, received an array' },
    ]);
    expect(findIssues(schema, {})).toEqual([
      { path: ['name'], message: 'is missing, and must be a string' },
    ]);
  });

  it.each([undefined, null, 'text', 5, [], ['name']])('refuses %j', (value) => {
    expect(findIssues(schema, value)?.map(({ path }) => path)).toEqual([[]]);
  });

  it('leaves unknown fields to others', () => {
    expect(findIssues(schema, { name: '', other: 5 })).toBeUndefined();
  });

  it('reads the accessors of a class', () => {
    class Named {
      get name() {
        return 'given';
      }
    }
    expect(findIssues(schema, new Named())).toBeUndefined();
  });
});

describe('strictFields', () => {
  const schema = strictFields({
    delayMs: wholeNumber({ min: 1, max: 9, unit: 'milliseconds' }),
    mode: z._default(oneOf('one', 'two'), 'one'),
    note: z.optional(text),
    body: z.optional(json),
    inner: z.optional(strictFields({ at: text })),
  });
  const read = (value: unknown) => parseStrictly(schema, value, 'fault');

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
    [{ delayMs: 10 }, `fault.delayMs ${range}; received 10`],
    [{ delayMs: Number.NaN }, `fault.delayMs ${range}; received NaN`],
    [{ delayMs: Infinity }, `fault.delayMs ${range}; received Infinity`],
    [{ delayMs: 1.5 }, `fault.delayMs ${range}; received 1.5`],
    [{ delayMs: '5' }, `fault.delayMs ${range}; received a string of 1 character`],
    [
      { delayMs: 5, mode: 'planted' },
      "fault.mode must be one of 'one', 'two'; received a string of 7 characters",
    ],
    [
      { delayMs: 5, note: ' ' },
      'fault.note must be a string that is not empty; received a blank string',
    ],
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
    [{ delay: 5 }, 'fault.delay is not a known option; use fault.delayMs'],
    [
      { 'planted secret': 5 },
      'one of the names given is not a known option; the options are delayMs, mode, note, body, inner',
    ],
    [
      JSON.parse('{"__proto__":{"delayMs":5}}'),
      'one of the names given is not a known option; the options are delayMs, mode, note, body, inner',
    ],
  ])('refuses %o, with the first thing that is wrong', (value, message) => {
    expect(messageOf(() => read(value))).toBe(message);
  });

  it('names a field alone where the value has no name', () => {
    expect(messageOf(() => parseStrictly(schema, { delayMs: 0 }))).toMatch(/^delayMs must be/);
    expect(messageOf(() => parseStrictly(strictFields({}), { stray: 1 }))).toBe(
      'stray is not a known option; leave it out',
    );
  });
});
