import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { findIssues } from '../../src/protocol/schema.js';

describe('findIssues', () => {
  const schema = {
    fields: { name: z.string('a string'), more: z.optional(z.string('a string')) },
    expected: 'an object',
  };

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
});
