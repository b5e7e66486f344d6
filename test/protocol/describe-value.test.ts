import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeValue } from '../../src/protocol/describe-value.js';

describe('describeValue', () => {
  it.each([
    [undefined, 'nothing'],
    [null, 'null'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'an infinite number'],
    [12.5, 'a number'],
    ['', 'an empty string'],
    [' \n', 'a blank string'],
    ['4', 'a string of 1 character'],
    ['four', 'a string of 4 characters'],
    [[], 'an empty array'],
    [['four'], 'an array'],
    [{ four: 4 }, 'an object'],
    [() => 'four', 'a function'],
  ])('says of %o: %s', (value, words) => {
    expect(describeValue(value)).toBe(words);
  });

  it('quotes no text and no number', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(describeValue(value)).toMatch(
          /^(nothing|null|NaN|an? [a-z]+|an (infinite number|empty string|empty array)|a blank string|a string of \d+ characters?)$/,
        );
      }),
      { numRuns: 500 },
    );
  });
});
