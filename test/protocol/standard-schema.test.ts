import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { InvalidOptionError } from '../../src/errors.js';
import { assertStandardSchema, toIssues } from '../../src/protocol/standard-schema.js';

describe('assertStandardSchema', () => {
  const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) };

  it.each([
    ['zod', z.object({})],
    ['zod/mini', mini.object({})],
    ['an object by hand', { '~standard': standard }],
    ['a function that carries one', Object.assign(() => undefined, { '~standard': standard })],
  ])('takes %s', (_what, schema) => {
    assertStandardSchema('schema', schema);
  });

  it.each([
    ['undefined', undefined, 'nothing'],
    ['null', null, 'null'],
    ['an object', {}, 'an object'],
    ['a standard property that is null', { '~standard': null }, 'an object'],
    ['a standard property without validate', { '~standard': {} }, 'an object'],
    ['a validate that is no function', { '~standard': { validate: true } }, 'an object'],
  ])('refuses %s', (_what, schema, came) => {
    expect(() => assertStandardSchema('recordSchema', schema)).toThrow(
      new InvalidOptionError(
        'recordSchema',
        `recordSchema must be a Standard Schema validator (zod, valibot, arktype, …), but ${came} came`,
      ),
    );
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
