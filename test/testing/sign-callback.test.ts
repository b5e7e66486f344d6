import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type SignCallbackInput, signCallback } from '../../src/testing/index.js';
import vectors from '../vectors/signatures.json' with { type: 'json' };

const signingSecret = 'test-signing-secret';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function parse(rawBody: Uint8Array): Record<string, unknown> {
  return JSON.parse(Buffer.from(rawBody).toString());
}

// A number has no leading zeros, so the vector with them is for the verifier alone.
const signable = vectors.filter(({ timestamp }) => String(Number(timestamp)) === timestamp);

describe.each(signable)('the vector of $name', ({ secretHex, timestamp, bodyHex, ...expected }) => {
  test
    .skipIf(String(Number(timestamp)) !== timestamp)
    .each(['hex', 'base64', 'base64url'] as const)(
    'is what openssl and Python make of it in %s',
    (signatureEncoding) => {
      const rawBody = Buffer.from(bodyHex, 'hex');
      const signed = signCallback({
        payment: rawBody,
        signingSecret: Buffer.from(secretHex, 'hex'),
        timestamp: Number(timestamp),
        signatureEncoding,
      });
      expect(signed.headers).toEqual({
        'content-type': 'application/json',
        'x-timestamp': timestamp,
        'x-signature': expected[signatureEncoding],
      });
      expect(rawBody.equals(signed.rawBody)).toBe(true);
    },
  );
});

describe('a record', () => {
  test('is filled with sample values where fields are missing', () => {
    const { rawBody } = signCallback({
      payment: { merchantPaymentReference: 'order-9', status: 'failed' },
      signingSecret,
      timestamp: 1_769_860_800,
    });
    expect(parse(rawBody)).toEqual({
      referenceNumber: expect.stringMatching(UUID),
      merchantPaymentReference: 'order-9',
      providerReference: expect.stringMatching(UUID),
      status: 'failed',
      createdAt: '2026-01-31T12:00:00.000+00:00',
      updatedAt: '2026-01-31T12:00:00.000+00:00',
    });
    expect(parse(signCallback({ payment: {}, signingSecret }).rawBody)).toMatchObject({
      status: 'paid',
      merchantPaymentReference: expect.stringMatching(/^order-/),
    });
  });

  test('leaves out what is undefined, and keeps what the interface does not show', () => {
    const { rawBody } = signCallback({
      payment: { status: undefined, fees: [1], createdAt: 5 },
      signingSecret,
    });
    const record = parse(rawBody);
    expect(record).not.toHaveProperty('status');
    expect(record).toMatchObject({ fees: [1], createdAt: 5 });
    expect(record).toHaveProperty('updatedAt');
  });

  test('has dates whatever the timestamp is', () => {
    for (const [timestamp, date] of [
      [1_769_860_805_123, '2026-01-31T12:00:05.123+00:00'],
      [0, '1970-01-01T00:00:00.000+00:00'],
      [Number.MAX_SAFE_INTEGER, '+275760-09-13T00:00:00.000+00:00'],
    ] as const) {
      const { rawBody, headers } = signCallback({ payment: {}, signingSecret, timestamp });
      expect(parse(rawBody)['createdAt']).toBe(date);
      expect(headers['x-timestamp']).toBe(String(timestamp));
    }
  });
});

describe('a body', () => {
  test('in text is signed as it is, JSON or not', () => {
    const { rawBody } = signCallback({ payment: '{"a": 1}\r\n', signingSecret });
    expect(Buffer.from(rawBody).toString()).toBe('{"a": 1}\r\n');
  });
});

describe('the timestamp', () => {
  test('of a Date is its whole seconds', () => {
    const timestamp = new Date('2026-01-31T12:00:05.999Z');
    expect(signCallback({ payment: {}, signingSecret, timestamp }).headers['x-timestamp']).toBe(
      '1769860805',
    );
  });
});

test('the secret may be text, bytes or a KeyObject', () => {
  const input = { payment: '{}', timestamp: 1 };
  const signatures = [
    signingSecret,
    Buffer.from(signingSecret),
    createSecretKey(signingSecret, 'utf8'),
  ].map((secret) => signCallback({ ...input, signingSecret: secret }).headers['x-signature']);
  expect(new Set(signatures).size).toBe(1);
});

describe('is refused, naming the option', () => {
  test.each<[string, object]>([
    ['signingSecret', { signingSecret: '' }],
    ['signingSecret', { signingSecret: 'secret\n' }],
    ['signingSecret', { signingSecret: ['a', 'b'] }],
    ['signingSecret', { signingSecret: generateKeyPairSync('ed25519').privateKey }],
    ['timestamp', { timestamp: -1 }],
    ['timestamp', { timestamp: 1.5 }],
    ['timestamp', { timestamp: '1769860805' }],
    ['timestamp', { timestamp: new Date(-1) }],
    ['signatureEncoding', { signatureEncoding: 'auto' }],
    ['payment', { payment: null }],
    ['payment', { payment: [] }],
    ['secret', { secret: signingSecret }],
  ])('%s (%#)', (option, wrong) => {
    const input = { payment: {}, signingSecret, ...wrong } as SignCallbackInput;
    expect(() => signCallback(input)).toThrowError(
      expect.objectContaining({ code: 'INVALID_OPTION', option }),
    );
  });
});
