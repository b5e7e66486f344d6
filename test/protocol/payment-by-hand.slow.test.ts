import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCreatePaymentIssues } from '../../src/protocol/creation.js';
import { findStatusRecordIssues } from '../../src/protocol/payment.js';
import { mutatedFields, recordFields } from '../callback/contract/arbitraries.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { findCreatePaymentIssuesByHand, findStatusRecordIssuesByHand } from './payment-by-hand.js';

/** What JSON.parse makes of a value: the only source of records. */
const fromJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('findStatusRecordIssues', () => {
  it.each([
    ['mutated records', mutatedFields.map((fields) => fromJson(sampleRecord(fields)))],
    ['records', recordFields.map((fields) => fromJson(sampleRecord(fields)))],
    ['any JSON', fc.jsonValue().map(fromJson)],
    [
      'records cut short',
      fc.subarray(Object.entries(sampleRecord())).map((entries) => Object.fromEntries(entries)),
    ],
  ])('agrees with checks by hand on %s', (_what, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(findStatusRecordIssues(value)).toEqual(findStatusRecordIssuesByHand(value));
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with checks by hand on dates that are nearly right', () => {
    const almostDate = fc.string({
      minLength: 1,
      maxLength: 30,
      unit: fc.constantFrom(...'0123456789-:TZ+.,tz '),
    });
    const edited = fc
      .tuple(
        fc.nat(28),
        fc.nat(2),
        fc.string({ maxLength: 2, unit: fc.constantFrom(...'0169-:TZ+., ') }),
      )
      .map(([at, gone, text]) => {
        const date = '2026-01-31T12:00:05.000+00:00';
        return date.slice(0, at) + text + date.slice(at + gone);
      });
    fc.assert(
      fc.property(fc.oneof(almostDate, edited), (date) => {
        const record = sampleRecord({ createdAt: date, updatedAt: date });
        expect(findStatusRecordIssues(record)).toEqual(findStatusRecordIssuesByHand(record));
      }),
      { numRuns: 5000 },
    );
  });

  it('agrees with checks by hand on every day of the years that differ', () => {
    const days = Array.from({ length: 33 }, (_, day) => String(day).padStart(2, '0'));
    const months = days.slice(1, 13);
    for (const year of ['0000', '0001', '0004', '0100', '1900', '2000', '2024', '2026', '9999']) {
      const dates = months.flatMap((month) => days.map((day) => `${year}-${month}-${day}`));
      for (const zone of ['Z', '+00:00', '-03:30']) {
        for (const date of dates) {
          const record = sampleRecord({ updatedAt: `${date}T12:00:05${zone}` });
          expect(findStatusRecordIssues(record)).toEqual(findStatusRecordIssuesByHand(record));
        }
      }
    }
  });
});

describe('findCreatePaymentIssues', () => {
  it('agrees with checks by hand on any input', () => {
    const almost = {
      merchantPaymentReference: fc.oneof(
        fc.string({
          maxLength: 3,
          unit: fc.constantFrom('a', ' ', '\t', '\u00a0', '\n', '\ud83d', '\udcb8'),
        }),
        fc.anything(),
      ),
      amount: fc.oneof(
        fc.double(),
        fc.maxSafeInteger(),
        fc.constantFrom(2 ** 53, -(2 ** 53), -0, 1e300),
        fc.anything(),
      ),
      currency: fc.oneof(
        fc.string({ maxLength: 4, unit: fc.constantFrom('A', 'Z', 'z', 'É', '\n') }),
        fc.anything(),
      ),
    };
    const values = fc.oneof(fc.record(almost, { requiredKeys: [] }), fc.anything());
    fc.assert(
      fc.property(values, (value) => {
        expect(findCreatePaymentIssues(value)).toEqual(findCreatePaymentIssuesByHand(value));
      }),
      { numRuns: 5000 },
    );
  });
});
