import fc from 'fast-check';
import { type Encoding, NOW_SECONDS, sampleRecord, sign } from '../sample-callback.js';
import type { Delivery } from './reference-verifier.js';

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

/** Mostly bodies that are records. */
const bodies = fc.oneof(
  { weight: 6, arbitrary: recordFields.map((fields) => JSON.stringify(sampleRecord(fields))) },
  { weight: 2, arbitrary: mutatedFields.map((fields) => JSON.stringify(sampleRecord(fields))) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.constant(`\ufeff${JSON.stringify(sampleRecord())}`) },
);

const bodyBytes = fc.oneof(
  { weight: 9, arbitrary: bodies.map((body) => Buffer.from(body)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
);

const timestamps = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.integer({ min: -302, max: 302 }).map((skew) => String(NOW_SECONDS + skew)),
  },
  { weight: 2, arbitrary: fc.constantFrom(`0${NOW_SECONDS}`, `00000${NOW_SECONDS}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      `000000${NOW_SECONDS}`,
      `${NOW_SECONDS}000`,
      `+${NOW_SECONDS}`,
      `${NOW_SECONDS}.0`,
      '',
    ),
  },
);

const spell: ((text: string) => string)[] = [
  (signature) => signature,
  (signature) => signature,
  (signature) => signature,
  (signature) => signature.replace(/=+$/, ''),
  (signature) => (signature.length === 43 ? `${signature}=` : signature),
  (signature) => (signature.length === 64 ? signature.toUpperCase() : signature),
  (signature) => signature.toUpperCase(),
  (signature) => signature.toLowerCase(),
  (signature) => ` ${signature}`,
  (signature) => `${signature}=`,
  (signature) => signature.slice(1),
  (signature) => signature.slice(0, -1),
  (signature) => signature.replaceAll('-', '+'),
  (signature) => signature.replaceAll('/', '_'),
];

type Shape = (timestamp: string, signature: string) => Delivery['headers'];

const shapes: Shape[] = [
  (timestamp, signature) => ({ 'x-timestamp': timestamp, 'x-signature': signature }),
  (timestamp, signature) => ({ 'X-Timestamp': timestamp, 'X-Signature': signature }),
  (timestamp, signature) => ({ 'x-timestamp': [timestamp], 'X-SIGNATURE': [signature] }),
  (timestamp, signature) => ({ 'x-timestamp': [timestamp, timestamp], 'x-signature': signature }),
  (timestamp, signature) => ({
    'x-timestamp': timestamp,
    'x-signature': signature,
    'X-Signature': '0',
  }),
  (timestamp) => ({ 'x-timestamp': timestamp }),
];

/** Callbacks of which roughly half are right in everything. */
export const deliveries: fc.Arbitrary<Delivery> = fc
  .record({
    rawBody: bodyBytes,
    timestamp: timestamps,
    encoding: fc.constantFrom<Encoding>('hex', 'base64', 'base64url'),
    signer: fc.constantFrom('one', 'two', 'three', 'one', 'two', 'stranger'),
    secrets: fc.constantFrom(
      ['one', 'two', 'three'],
      ['two', 'one', 'two', 'three'],
      ['one', 'two'],
    ),
    respell: fc.constantFrom(...spell),
    shape: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...shapes.slice(0, 3)) },
      { weight: 1, arbitrary: fc.constantFrom(...shapes.slice(3)) },
    ),
  })
  .map(({ rawBody, timestamp, encoding, signer, secrets, respell, shape }) => ({
    rawBody,
    headers: shape(timestamp, respell(sign(rawBody, { secret: signer, timestamp, encoding }))),
    secrets,
  }));
