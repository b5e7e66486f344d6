import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PaymentRow } from '../../src/store/payment-row.js';
import { toIntent, toServiceRecord, toStoredPayment } from '../../src/store/records.js';
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

  it.runIf('rawJSON' in JSON)(
    'is refused with a raw number that would be stored as another',
    () => {
      const json = '{"merchantPaymentReference":"order-1","amount":1,"id":12345678901234567890}';
      expect(() => toIntent(json, forms)).toThrow('pass the number as a string');
    },
  );
});

describe('a record of the service', () => {
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
});
