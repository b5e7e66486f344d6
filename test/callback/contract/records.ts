import { describe, expect, it } from 'vitest';
import { refusalOf, sampleRecord, sampleRequest } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

const text = 'must be a non-empty string';
const dateTime =
  'must be an ISO 8601 date-time with a UTC offset, such as 2026-01-31T12:00:00+00:00';

const fields = [
  { field: 'referenceNumber', rule: text },
  { field: 'merchantPaymentReference', rule: text },
  { field: 'status', rule: text },
  { field: 'updatedAt', rule: dateTime },
];

const wrongTypes: [string, unknown, string][] = [
  ['missing', undefined, 'nothing'],
  ['null', null, 'null'],
  ['empty', '', 'an empty string'],
  ['an array', ['planted'], 'an array'],
];

const wrongBodies: [string, string, string][] = [
  ['null', 'null', 'null'],
  ['a string', '"paid"', 'a string of 4 characters'],
  ['an array of records', `[${JSON.stringify(sampleRecord())}]`, 'an array'],
];

const words = (text: string): string[] => text.trim().split(/\s+/);

const goodDates = words(`
  2026-01-31T12:00:05+00:00 2024-02-29T12:00:05Z 2000-02-29T12:00:05+01:00 0004-02-29T12:00:05Z
  2026-01-31T12:00:05z 2026-01-31t12:00:05Z 2026-01-31T12:00:05+0530 2026-01-31T12:00:05-11:45
  2026-01-31T12:00:05+05 2026-01-31T12:00Z 2026-01-31T12:00:05.1Z 2026-01-31T12:00:05,123+02:00
  2026-01-31T12:00:05.123456789+02:00 2016-12-31T23:59:60Z 2026-01-31T23:59:59+23:59
`);

const missingDays = words(`
  2026-02-29T12:00:05Z 2026-02-30T12:00:05.060+00:00 2026-04-31T12:00:05.123456+02:00
  2100-02-29T12:00:05Z 0001-02-29T12:00:05Z
`);

const badDates = [
  ...words(`
    yesterday 2026-01-31 2026-01-31T12:00:05 2026-01-31T12Z 2026-01-31T12:00.5Z 1769860805
    2026-01-31T12:00:05.Z 2026-13-01T12:00:05Z 2026-00-01T12:00:05Z 2026-01-32T12:00:05Z
    2026-01-00T12:00:05Z 2026-01-31T24:00:00Z 2026-01-31T12:60:05Z 2026-01-31T12:00:61Z
    2026-01-31T12:00:05+24:00 2026-01-31T12:00:05+05:60 2026-01-31T12:00:05+5 26-01-31T12:00:05Z
    ٢٠٢٦-01-31T12:00:05Z
  `),
  ...['2026-01-31 12:00:05Z', ' 2026-01-31T12:00:05Z', '2026-01-31T12:00:05Z\n'],
];

export function describeRecords(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);
  const delivered = (record: unknown) =>
    verify(sampleRequest({ body: typeof record === 'string' ? record : JSON.stringify(record) }));
  const issuesOf = async (record: unknown) => {
    const error = await refusalOf(() => delivered(record));
    expect(error.code).toBe('INVALID_RECORD');
    return error.issues;
  };

  describe('the status record', () => {
    it('is what JSON made of the body', async () => {
      const record = sampleRecord();
      const verified = await delivered(record);
      expect(verified).toEqual({
        payment: record,
        key: await implementation.callbackKey(record),
        timestamp: new Date('2026-01-31T12:00:05Z'),
        secretIndex: 0,
        rawBody: new TextEncoder().encode(JSON.stringify(record)),
      });
    });

    it('keeps fields the interface does not show, and a status as it stands', async () => {
      const further = {
        status: 'On \u{1F9FE}',
        amount: 25.5,
        fee: { currency: 'EUR', parts: [1, null] },
        '': 'x',
      };
      expect((await delivered(sampleRecord(further))).payment).toEqual(sampleRecord(further));
    });

    it('keeps a field called __proto__ without polluting anything', async () => {
      const body = JSON.stringify(sampleRecord()).replace('{', '{"__proto__":{"polluted":true},');
      const { payment } = await delivered(body);
      expect('polluted' in payment).toBe(false);
      expect('polluted' in {}).toBe(false);
      expect(Object.getPrototypeOf(payment)).toBe(Object.prototype);
      expect(Object.getOwnPropertyDescriptor(payment, '__proto__')?.value).toEqual({
        polluted: true,
      });
    });

    it.each([
      ['providerReference', undefined],
      ['providerReference', null],
      ['createdAt', null],
      ['createdAt', '1969-12-31T23:59:59Z'],
    ])('takes %s as %j, by which nothing is decided', async (field, value) => {
      const record = sampleRecord({ [field]: value });
      expect((await delivered(record)).payment).toEqual(JSON.parse(JSON.stringify(record)));
    });

    it.each([
      ['providerReference', 7],
      ['createdAt', 1_769_860_805],
      ['createdAt', '2026-02-30T12:00:05Z'],
    ])('leaves out %s if it is %j, and rawBody has it', async (field, value) => {
      const { [field]: _left, ...others } = sampleRecord() as unknown as Record<string, unknown>;
      const { payment, rawBody } = await delivered({ ...others, [field]: value });
      expect(payment).toEqual(others);
      expect(JSON.parse(Buffer.from(rawBody).toString())).toEqual({ ...others, [field]: value });
    });

    describe.each(fields)('$field', ({ field, rule }) => {
      it.each(wrongTypes)('is refused when it is %s', async (_what, value, received) => {
        expect(await issuesOf(sampleRecord({ [field]: value }))).toEqual([
          {
            path: [field],
            message:
              value === undefined ? `is missing, and ${rule}` : `${rule}, received ${received}`,
          },
        ]);
      });
    });

    it.each(wrongBodies)('is refused when the body is %s', async (_what, body, received) => {
      expect(await issuesOf(body)).toEqual([
        {
          path: [],
          message: `must be an object with the fields of a payment status record, received ${received}`,
        },
      ]);
    });

    it('names all that is wrong', async () => {
      const error = await refusalOf(() => delivered({ providerReference: 7, createdAt: 7 }));
      expect(error.issues?.map(({ path }) => path)).toEqual(fields.map(({ field }) => [field]));
      expect(error.message).toContain(
        'The callback is authentic, but its body is not a payment status record: referenceNumber is missing, and must be',
      );
      expect(error.message).toContain('; updatedAt is missing, and must be');
      expect(error.message).not.toMatch(/createdAt|providerReference/);
    });

    it.each(goodDates)('takes the date-time %s as it stands', async (date) => {
      const { payment } = await delivered(sampleRecord({ createdAt: date, updatedAt: date }));
      expect([payment.createdAt, payment.updatedAt]).toEqual([date, date]);
    });

    it.each([
      ...badDates.map((date) => [date, `a string of ${date.length} characters`]),
      ...missingDays.map((date) => [date, 'a day that its month does not have']),
    ])('refuses the date-time %j', async (date, received) => {
      expect(await issuesOf(sampleRecord({ createdAt: date, updatedAt: date }))).toEqual([
        { path: ['updatedAt'], message: `${dateTime}, received ${received}` },
      ]);
    });
  });
}
