import fc from 'fast-check';
import { sampleRecord } from '../sample-callback.js';

const text = fc.string({ minLength: 1, unit: 'grapheme' });

const dateTime = fc
  .tuple(
    fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    }),
    fc.constantFrom('Z', '+00:00', '-11:30', '+14:00'),
  )
  .map(([date, offset]) => date.toISOString().replace('Z', offset));

/** Right fields of a status record, some that the interface does not show among them. */
export const recordFields = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    fc.record({
      referenceNumber: text,
      merchantPaymentReference: text,
      providerReference: fc.string({ unit: 'grapheme' }),
      status: fc.oneof(fc.constant('paid'), text),
      createdAt: dateTime,
      updatedAt: dateTime,
    }),
  )
  .map(([further, fields]) => ({ ...further, ...fields }));

const fieldNames = Object.keys(sampleRecord());

/** Fields of which some are wrong, or gone. */
export const mutatedFields = fc.dictionary(
  fc.constantFrom(...fieldNames, 'amount'),
  fc.oneof(
    fc.constantFrom(undefined, '', 'paid', '2026-01-31T12:00:05Z', '2026-01-31T12:00:05', '12:00Z'),
    fc.jsonValue({ maxDepth: 1 }),
    dateTime,
  ),
);
