import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyCallback } from '../../src/callback/verify.js';
import { findCreatePaymentIssues } from '../../src/protocol/creation.js';
import { operations as known } from '../../src/protocol/operations.js';
import {
  findStatusRecordIssues,
  leaveOutUnusable,
  statusRecordFields,
} from '../../src/protocol/payment.js';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../src/protocol/wire.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { findComponentDepartures } from './conformance.js';
import { callbackOperation, document, headersOf, operationAt } from './document.js';

const { schemas, securitySchemes } = document.components;
const propertiesOf = (name: string) => Object.keys(schemas[name]?.properties ?? {});

describe('the document describes what the package speaks', () => {
  test('its only path and method', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(operations).toEqual([`post ${known['payments.create'].path}`]);
    expect(Object.values(document.webhooks).flatMap(Object.keys)).toEqual(['post']);
  });

  test('the callback’s headers, both required', () => {
    const headers = headersOf(callbackOperation());
    expect(headers.map(({ name }) => name.toLowerCase())).toEqual([
      TIMESTAMP_HEADER,
      SIGNATURE_HEADER,
    ]);
    expect(headers.map(({ required }) => required)).toEqual([true, true]);
  });

  test('Basic credentials for the service, none for the callback', () => {
    expect(Object.values(securitySchemes)).toMatchObject([{ type: 'http', scheme: 'basic' }]);
    expect(document.security).toEqual([{ [Object.keys(securitySchemes)[0] ?? '']: [] }]);
    expect(operationAt(known['payments.create'].path, 'POST').security).toBeUndefined();
    expect(callbackOperation().security).toEqual([]);
  });

  test('the fields of the record, those required that decide, in the interface’s order', () => {
    expect(propertiesOf('PaymentStatusRecord')).toEqual(statusRecordFields);
    expect(schemas['PaymentStatusRecord']?.required).toEqual(
      statusRecordFields.filter((field) => !['providerReference', 'createdAt'].includes(field)),
    );
  });

  test('the fields of a creation, none required, since the interface does not show it', () => {
    const required = findCreatePaymentIssues({})?.map(({ path }) => path[0]);
    expect(propertiesOf('PaymentCreation')).toEqual(required);
    expect(schemas['PaymentCreation']?.required).toBeUndefined();
  });

  test('no success but every 2xx, and no error but the 401 and the default', () => {
    const { responses } = operationAt(known['payments.create'].path, 'POST');
    expect(new Set(Object.keys(responses))).toEqual(new Set(['2XX', '401', 'default']));
  });

  test('examples that verify', () => {
    const [timestamp = '', signature = ''] = headersOf(callbackOperation()).map(
      ({ example }) => example,
    );
    const { payment } = verifyCallback(
      {
        rawBody: JSON.stringify(exampleRecord()),
        headers: { 'x-timestamp': timestamp, 'x-signature': signature },
      },
      { signingSecret: 'whsec_example', now: () => Number(timestamp) * 1000 },
    );
    expect(payment.status).toBe('paid');
  });
});

function exampleRecord(): unknown {
  const [content] = Object.values(callbackOperation().requestBody.content);
  const { examples } = content as unknown as { examples: { paid: { value: unknown } } };
  return examples.paid.value;
}

const digits = (min: number, max: number, length = 2) =>
  fc.integer({ min, max }).map((value) => String(value).padStart(length, '0'));
const anyOf = (...texts: string[]) => fc.constantFrom(...texts);

/** Date-times of every spelling, a little beyond what there is. */
const dateTime = fc
  .tuple(
    digits(1999, 2027, 4),
    anyOf('-', '-', '-', ''),
    digits(0, 13),
    anyOf('-', '-', '-', ''),
    digits(0, 32),
    anyOf('T', 'T', 't', ' '),
    digits(0, 24),
    anyOf(':', ':', ':', ''),
    digits(0, 60),
    anyOf('', ':00', ':60', ':61', ':05.123456', ':05,5', ':05.'),
    anyOf('Z', 'z', '', '+00:00', '-0330', '+02', '+24:00', '+1:00', '+23:60'),
  )
  .map((parts) => parts.join(''));

const anyField = fc.oneof(dateTime, fc.string(), fc.jsonValue());

/** Some fields of a record with other values: often one alone, so that many records stay valid. */
const changedFields = fc.oneof(
  fc.tuple(fc.tuple(fc.constantFrom(...statusRecordFields), fc.oneof(dateTime, fc.string()))),
  fc.array(fc.tuple(fc.constantFrom(...statusRecordFields), anyField)),
);

describe('the schemas judge as the package does', () => {
  test('a status record: the same ones are accepted', () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(changedFields, fc.boolean(), (changed, isComplete) => {
        const fields = Object.fromEntries(changed);
        const record = JSON.parse(
          JSON.stringify(isComplete ? { ...sampleRecord(), ...fields } : fields),
        );
        const kept = leaveOutUnusable({ ...record });
        const isWhole = Object.keys(kept).length === Object.keys(record).length;
        const isRecord = isWhole && findStatusRecordIssues(record) === undefined;
        seen[isRecord ? 'accepted' : 'refused'] += 1;
        return isRecord === (findComponentDepartures('PaymentStatusRecord', record).length === 0);
      }),
      { numRuns: 500 },
    );
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(20);
  });
});
