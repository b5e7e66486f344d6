import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findStatusRecordIssues,
  isPaid,
  isStatusRecord,
  statusRecord,
  statusRecordFields,
} from '../../src/protocol/payment.js';
import { findIssues } from '../../src/protocol/schema.js';
import { mutatedFields, recordFields } from '../callback/contract/arbitraries.js';
import { sampleRecord } from '../callback/sample-callback.js';

describe('findStatusRecordIssues', () => {
  it('does not quote a value in any message', () => {
    const planted = 'planted-77aa';
    for (const value of [planted, [planted], { planted }, -12_345.5]) {
      const record = Object.fromEntries(statusRecordFields.map((field) => [field, value]));
      for (const wrong of [value, record]) {
        const shown = JSON.stringify(findStatusRecordIssues(wrong) ?? []);
        expect(shown).not.toContain('planted');
        expect(shown).not.toContain('12345');
      }
    }
  });
});

describe('isStatusRecord', () => {
  const values = fc.oneof(
    recordFields.map((fields) => sampleRecord(fields)),
    mutatedFields.map((fields) => sampleRecord(fields)),
    fc.subarray(Object.entries(sampleRecord())).map((entries) => Object.fromEntries(entries)),
    // Dates of every month, with days that some lack.
    fc
      .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 12 }), fc.nat(31))
      .map(([year, month, day]) => {
        const two = (number: number) => String(number).padStart(2, '0');
        const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
        return sampleRecord({ updatedAt: `${date}T12:00:05Z` });
      }),
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
  );

  it('says of any value what the schema says', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(isStatusRecord(value)).toBe(findIssues(statusRecord, value) === undefined);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('isPaid', () => {
  it.each([
    ['paid', true],
    ['authorized', false],
    ['PAID', false],
    ['paid ', false],
    ['', false],
  ])('says of the status %o: %s', (status, expected) => {
    expect(isPaid({ status })).toBe(expected);
  });
});
