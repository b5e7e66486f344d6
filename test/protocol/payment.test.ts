import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCreatePaymentIssues, readCreation } from '../../src/protocol/creation.js';
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
  it('finds nothing in a record', () => {
    expect(findStatusRecordIssues(sampleRecord())).toBeUndefined();
  });

  it('knows the fields of the interface', () => {
    expect(statusRecordFields).toEqual(Object.keys(sampleRecord()));
  });

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
    ['refunded', false],
    ['PAID', false],
    ['paid ', false],
    ['partially_paid', false],
    ['', false],
  ])('says of the status %o: %s', (status, expected) => {
    expect(isPaid({ status })).toBe(expected);
  });
});

describe('findCreatePaymentIssues', () => {
  const input = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
  const amountRule = 'must be a finite number within ±9007199254740991';
  const referenceRule = 'must be a string that is not blank';
  const currencyRule = 'must be three capital letters such as EUR';

  it.each([
    ['a whole amount', {}],
    ['a fraction', { amount: 0.1 }],
    ['zero', { amount: 0 }],
    ['a negative amount, since the interface sets no bound', { amount: -1 }],
    ['the largest amount', { amount: Number.MAX_SAFE_INTEGER }],
    ['the smallest amount', { amount: Number.MIN_SAFE_INTEGER }],
    ['a reference with spaces around', { merchantPaymentReference: ' order ' }],
    ['a reference with an emoji', { merchantPaymentReference: 'Tee 💸' }],
    ['an unknown currency', { currency: 'XXX' }],
  ])('finds nothing in %s', (_what, fields) => {
    expect(findCreatePaymentIssues({ ...input, ...fields })).toBeUndefined();
  });

  it.each([
    ['amount', Number.NaN, `${amountRule}, received NaN`],
    ['amount', Number.POSITIVE_INFINITY, `${amountRule}, received an infinite number`],
    ['amount', Number.NEGATIVE_INFINITY, `${amountRule}, received an infinite number`],
    ['amount', 2 ** 53, `${amountRule}, received a number`],
    ['amount', -(2 ** 53), `${amountRule}, received a number`],
    ['amount', '2500', `${amountRule}, received a string of 4 characters`],
    ['amount', 2500n, `${amountRule}, received a bigint`],
    ['amount', null, `${amountRule}, received null`],
    ['amount', undefined, `is missing, and ${amountRule}`],
    ['merchantPaymentReference', '', `${referenceRule}, received an empty string`],
    ['merchantPaymentReference', ' \t', `${referenceRule}, received a blank string`],
    [
      'merchantPaymentReference',
      'Tee 💸'.slice(0, 5),
      'must be well-formed Unicode, received half of a surrogate pair; was it cut?',
    ],
    ['merchantPaymentReference', 1001, `${referenceRule}, received a number`],
    ['merchantPaymentReference', undefined, `is missing, and ${referenceRule}`],
    ['currency', 'eur', `${currencyRule}, received lower-case letters`],
    ['currency', 'EURO', `${currencyRule}, received a string of 4 characters`],
    ['currency', 'EUR\n', `${currencyRule}, received a string of 4 characters`],
    ['currency', 'ÉUR', `${currencyRule}, received a string of 3 characters`],
    ['currency', '', `${currencyRule}, received an empty string`],
    ['currency', 978, `${currencyRule}, received a number`],
    ['currency', undefined, `is missing, and ${currencyRule}`],
  ])('finds that %s must not be %o', (field, value, message) => {
    expect(findCreatePaymentIssues({ ...input, [field]: value })).toEqual([
      { path: [field], message },
    ]);
  });

  it.each([
    ['undefined', undefined, 'is missing, and must be an object', ''],
    ['null', null, 'must be an object', ', received null'],
    ['a string', 'order-1001', 'must be an object', ', received a string of 10 characters'],
    ['an array', [input], 'must be an object', ', received an array'],
  ])('finds that the input must not be %s', (_what, value, must, received) => {
    expect(findCreatePaymentIssues(value)).toEqual([
      {
        path: [],
        message: `${must} with merchantPaymentReference, amount and currency${received}`,
      },
    ]);
  });

  it.each([
    [19.99 * 100, '1999'],
    [1.1 * 3, '3.3'],
    [0.1 + 0.2, '0.3'],
    [-(4.35 * 100), '-435'],
    [1.005 * 1000, '1005'],
  ])(
    'leaves an amount that arithmetic spoilt (%d) to the client, which says %s',
    (amount, meant) => {
      expect(findCreatePaymentIssues({ ...input, amount })).toBeUndefined();
      expect(readCreation({ ...input, amount }).issues).toEqual([
        {
          path: ['amount'],
          message: `must be a number without a rounding error, received one with; was ${meant} meant? Round it, or calculate in whole units`,
        },
      ]);
    },
  );

  it.each([19.99, 0.1, 1e-7, 123456789.01, -0.5, 1999, Number.MAX_SAFE_INTEGER])(
    'the client sends %d',
    (amount) => {
      expect(readCreation({ ...input, amount }).issues).toBeUndefined();
    },
  );

  it('finds one issue in an amount that is no number of JSON', () => {
    for (const amount of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
      expect(readCreation({ ...input, amount }).issues).toEqual(
        findCreatePaymentIssues({ ...input, amount }),
      );
    }
  });

  it('finds all that is wrong', () => {
    expect(findCreatePaymentIssues({})?.map(({ path }) => path)).toEqual([
      ['merchantPaymentReference'],
      ['amount'],
      ['currency'],
    ]);
  });
});
