import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PaymentRow } from '../../src/store/payment-row.js';
import { readBody, toIntent, toServiceRecord, toStoredPayment } from '../../src/store/records.js';
import { databaseForms as forms } from '../../src/store/sql/sql.js';
import { order } from './orders.js';

const STORED: PaymentRow = {
  body: JSON.stringify(order('order-1')),
  digest: '',
  state: 'recorded',
  attempts: 0,
  recordedAtMs: 1,
  sentAtMs: undefined,
  changedAtMs: 2,
  referenceNumber: undefined,
  payment: undefined,
  foundStatus: undefined,
  failure: undefined,
  order: undefined,
  replacedBy: undefined,
};

describe('a stored payment', () => {
  it('has the body with ordered keys, and its SHA-256', () => {
    const known = '"merchantPaymentReference":"order-1","amount":1,"currency":"EUR"';
    const body = `{${known},"a":[{"x":1,"y":2}],"b":null,"c":{"d":1,"e":2}}`;
    const digest = createHash('sha256').update(body).digest('base64url');
    const json = `{"c":{"e":2,"d":1},"a":[{"y":2,"x":1}],"b":null,${known}}`;
    expect(toIntent(json, forms)).toEqual({ key: 'order-1', intent: { body, digest } });
  });

  it('without other fields has the body as sent, under the stored form of its reference', () => {
    const body = JSON.stringify(order('an order'));
    const { key, intent } = toIntent(body, forms);
    expect(key).toBe(forms.toName('an order'));
    expect(intent.body).toBe(body);
  });

  it.runIf('rawJSON' in JSON).each(['12345678901234567890', '1e999', '1.0'])(
    'is refused with a number of JSON.rawJSON that would be stored as another: %s',
    (text) => {
      const json = `{"merchantPaymentReference":"order-1","amount":1,"currency":"EUR","lines":[{"id":${text}}]}`;
      expect(() => toIntent(json, forms)).toThrow(
        'extraBody must be JSON whose numbers JavaScript holds exactly; received a raw number; pass the number as a string',
      );
    },
  );

  it('has extraBody only if there is one', () => {
    expect(readBody(STORED.body).extraBody).toBeUndefined();
    expect(readBody('{"a":1}').extraBody).toEqual({ a: 1 });
  });
});

describe('a record of the service', () => {
  // A second payment is listed by its record, which a database requires.
  it('has its time in microseconds', () => {
    const at = (updatedAt: unknown) =>
      toServiceRecord({ updatedAt: updatedAt as string }, forms).updatedAtUs;
    expect(at('1970-01-01T00:00:01.000123Z')).toBe(1_000_123);
    expect(at('yesterday')).toBeUndefined();
    expect(at(7)).toBeUndefined();
  });

  it.each(['', undefined, 7, {}])('has no number when that is %j', (referenceNumber) => {
    const serviceRecord = toServiceRecord({ referenceNumber: referenceNumber as string }, forms);
    expect(serviceRecord.referenceNumber).toBe(undefined);
  });

  it('has a long number as the databases keep it', () => {
    const referenceNumber = 'P'.repeat(200);
    const stored = forms.toName(referenceNumber);
    expect(stored).not.toBe(referenceNumber);
    expect(toServiceRecord({ referenceNumber }, forms).referenceNumber).toBe(stored);
  });

  it('has no record when nothing is known', () => {
    expect(toServiceRecord({}, forms)).toEqual({});
    expect(toServiceRecord({ status: 'paid' }, forms).payment).toBe('{"status":"paid"}');
  });
});

describe('the public form of a stored payment', () => {
  it('has no field without a value', () => {
    expect(Object.keys(toStoredPayment(STORED, { replayed: true }))).toEqual([
      'merchantPaymentReference',
      'order',
      'state',
      'replayed',
      'input',
      'attempts',
      'recordedAt',
      'changedAt',
    ]);
  });

  it('has its times as dates', () => {
    const given = toStoredPayment({ ...STORED, sentAtMs: 3 }, { replayed: true });
    expect(given).toMatchObject({
      recordedAt: new Date(1),
      sentAt: new Date(3),
      changedAt: new Date(2),
    });
  });
});
