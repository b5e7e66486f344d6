import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { isStandardSchema, toIssues } from '../../src/protocol/standard-schema.js';

const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) };

describe('isStandardSchema', () => {
  it.each<[string, unknown, boolean]>([
    ['zod', z.object({}), true],
    ['zod/mini', mini.object({}), true],
    ['a function that carries one', Object.assign(() => {}, { '~standard': standard }), true],
    ['undefined', undefined, false],
    ['a standard property that is null', { '~standard': null }, false],
    ['a validate that is not a function', { '~standard': { validate: true } }, false],
  ])('tells whether it is one: %s', (_what, schema, expected) => {
    expect(isStandardSchema(schema)).toBe(expected);
  });
});

describe('toIssues', () => {
  it('makes plain keys of every form of a path', () => {
    const mark = Symbol('mark');
    expect(
      toIssues([
        { message: 'none' },
        { message: 'keys', path: ['a', 0, mark] },
        { message: 'segments', path: [{ key: 'a' }, { key: mark }] },
      ]),
    ).toEqual([
      { path: [], message: 'none' },
      { path: ['a', 0, mark], message: 'keys' },
      { path: ['a', mark], message: 'segments' },
    ]);
  });

  it('takes over path and message only, not the input that some libraries add', () => {
    const issue = { message: 'wrong', path: ['a'], input: 'planted' };
    expect(toIssues([issue])).toEqual([{ path: ['a'], message: 'wrong' }]);
  });
});
