import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { isStandardSchema, toIssues } from '../../src/protocol/standard-schema.js';

describe('isStandardSchema', () => {
  const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) };

  it.each([
    ['zod', z.object({})],
    ['zod/mini', mini.object({})],
    ['an object by hand', { '~standard': standard }],
    ['a function that carries one', Object.assign(() => undefined, { '~standard': standard })],
  ])('takes %s', (_what, schema) => {
    expect(isStandardSchema(schema)).toBe(true);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an object', {}],
    ['a standard property that is null', { '~standard': null }],
    ['a standard property without validate', { '~standard': {} }],
    ['a validate that is not a function', { '~standard': { validate: true } }],
  ])('refuses %s', (_what, schema) => {
    expect(isStandardSchema(schema)).toBe(false);
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
