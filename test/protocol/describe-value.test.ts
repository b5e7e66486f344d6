import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeValue } from '../../src/protocol/describe-value.js';

describe('describeValue', () => {
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
