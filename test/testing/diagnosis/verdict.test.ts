import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { verifyCallback } from '../../../src/callback/index.js';
import { callbackFindingCodes, diagnoseCallback } from '../../../src/testing/index.js';
import { schemaOf } from '../../callback/contract/record-schema.js';
import { failureOf } from '../../callback/sample-callback.js';
import {
  COMPACT,
  codesOf,
  diagnose,
  expectExplained,
  NOW_SECONDS,
  now,
  SECRET,
  sampleRecord,
  sign,
  TIMESTAMP,
} from './scene.js';

describe('a callback that verifies', () => {
  test('has its record and no finding', () => {
    expect(diagnose({})).toEqual({
      verified: true,
      secretIndex: 0,
      payment: sampleRecord(),
      findings: [],
    });
  });
});

describe('a callback that is refused', () => {
  test('carries what verifyCallback throws', async () => {
    const headers = { 'x-timestamp': TIMESTAMP, 'x-signature': sign(COMPACT) };
    const request = { rawBody: `${COMPACT} `, headers };
    const options = { signingSecret: SECRET, now };
    const error = await failureOf(() => verifyCallback(request, options));
    expect(diagnoseCallback(request, options).error).toEqual({
      code: 'SIGNATURE_MISMATCH',
      message: (error as Error).message,
    });
  });
});

describe('an authentic body that is not a record', () => {
  test('has its issues, and matches', () => {
    const signed = JSON.stringify({ ...sampleRecord(), status: 5 });
    const diagnosis = diagnose({ signed });
    expect(diagnosis).toMatchObject({ secretIndex: 0, error: { code: 'INVALID_RECORD' } });
    expect(diagnosis).not.toHaveProperty('payment');
    expect(codesOf(diagnosis)).toEqual(['record-invalid']);
    expect(diagnosis.findings[0]?.message).toMatch(
      /its body is not a payment status record: .*status.* must be a non-empty string, received a number/,
    );
  });

  test('is listed after the other findings', () => {
    const diagnosis = diagnose({ signed: '{"status":5}', timestamp: '1000' });
    expect(codesOf(diagnosis)).toEqual(['timestamp-outside-window', 'record-invalid']);
    expect(diagnosis.secretIndex).toBe(0);
    expectExplained(
      diagnose({ signed: '{"status":5}', rawBody: '{"status": 5}' }),
      'body-reserialized',
      'record-invalid',
    );
  });

  test('is listed for a schema of the merchant', () => {
    const issues = [{ message: 'unknown order', path: [Symbol('order')] }];
    const recordSchema = schemaOf(() => ({ issues }));
    const diagnosis = diagnose({ options: { recordSchema } });
    expect(codesOf(diagnosis)).toEqual(['record-invalid']);
    expect(diagnosis.findings[0]?.message).toContain('unknown order');
  });
});

describe('a signature that nothing explains', () => {
  test('on a body that is not a record names the likely causes', () => {
    const diagnosis = diagnose({ signed: 'no record', key: 'other' });
    expect(diagnosis.verified).toBe(false);
    expect(diagnosis).not.toHaveProperty('secretIndex');
    expect(codesOf(diagnosis)).toEqual(['unexplained']);
    const [finding] = diagnosis.findings;
    expect(finding?.message).toContain('the body was damaged');
    expect(finding?.message).toContain('another secret');
    expect(finding?.message).toContain('forged');
  });
});

describe('faults in several parts are explained together:', () => {
  const key = 'whsec_of_this_account';

  test('secret, signature, clock and body', () => {
    expectExplained(
      diagnose({
        key,
        timestamp: String((NOW_SECONDS - 4000) * 1000),
        rawBody: `${COMPACT}\n`,
        options: {
          signingSecret: ['other', `"${key}"\n`],
          signatureEncoding: 'base64',
        },
      }),
      'secret-edge-space',
      'timestamp-unit',
      'timestamp-outside-window',
      'signature-encoding',
      'secret-quoted',
      'body-reserialized',
    );
  });
});

describe('options that are invalid are refused:', () => {
  test.each<[string, object]>([
    ['toleranceSeconds', { toleranceSeconds: -1 }],
    ['signatureEncoding', { signatureEncoding: 'utf8' }],
    ['timestampUnit', { timestampUnit: 'minutes' }],
    ['now', { now: 5 }],
    ['tolerance', { tolerance: 3 }],
    ['recordSchema', { recordSchema: {} }],
    ['recordSchema', { recordSchema: schemaOf(async () => ({ value: 1 })) }],
  ])('%s (%#)', (option, wrong) => {
    expect(() => diagnose({ options: wrong })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option }),
    );
  });
});

test('the page of errors lists exactly the codes, in their order', () => {
  const guide = readFileSync('docs/errors.md', 'utf8');
  const listed = guide.matchAll(
    /`((?:secret|signature|timestamp|body|record)-[\w-]+|unexplained)`/g,
  );
  expect([...listed].map(([, code]) => code)).toEqual(callbackFindingCodes);
});
