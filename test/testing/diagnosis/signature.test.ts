import { describe, expect, test } from 'vitest';
import {
  COMPACT,
  codesOf,
  diagnose,
  expectExplained,
  hmac,
  NOW_SECONDS,
  sign,
  TIMESTAMP,
} from './scene.js';

const digest = hmac(`${TIMESTAMP}.${COMPACT}`);
const hex = digest.toString('hex');
const _base64 = digest.toString('base64');

describe('a signature in another encoding than signatureEncoding is explained:', () => {
  // A digest that has both characters in which the two alphabets of base64 differ.
  const timestamp = Array.from({ length: 50 }, (_, index) => String(NOW_SECONDS + index)).find(
    (one) => /\+.*\//.test(sign(COMPACT, { timestamp: one, encoding: 'base64' })),
  );

  test.each([
    ['hex', 'base64'],
    ['hex', 'base64url'],
    ['base64', 'hex'],
    ['base64', 'base64url'],
    ['base64url', 'base64'],
  ] as const)('%s, of %s', (signatureEncoding, encoding) => {
    if (timestamp === undefined) throw new Error('no digest has both characters');
    const signature = sign(COMPACT, { timestamp, encoding });
    const diagnosis = diagnose({ timestamp, signature, options: { signatureEncoding } });
    expectExplained(diagnosis, 'signature-encoding');
    expect(diagnosis.error?.code).toBe('INVALID_SIGNATURE');
    expect(diagnosis.findings[0]?.message).toContain(`a digest in ${encoding}`);
    expect(diagnosis.findings[0]?.remedy).toBe(`Set signatureEncoding: '${encoding}'.`);
  });
});

describe('a signature that is not a digest', () => {
  test.each([
    ['cut hex', hex.slice(0, 63), 'received 63 characters'],
    ['SHA-1', hmac(COMPACT, { algorithm: 'sha1' }).toString('hex'), 'received 40 characters'],
    ['other text', 'no signature!', 'received 13 characters'],
    ['a prefix', `sha256=${hex}`, 'received 71 characters'],
    ['white space', ` ${hex}`, 'received 65 characters'],
    ['no text', 5, 'must be a string; received a number'],
    ['two in a list', [hex, hex], 'received it more than once'],
  ])('is malformed: %s', (_name, signature, reason) => {
    const diagnosis = diagnose({ signature });
    expect(diagnosis).not.toHaveProperty('secretIndex');
    expect(diagnosis.error?.code).toBe('INVALID_SIGNATURE');
    expect(codesOf(diagnosis)).toEqual(['signature-malformed']);
    expect(diagnosis.findings[0]?.message).toContain(reason);
    expect(diagnosis.findings[0]?.remedy).toContain('without white space, quotes or a prefix');
  });
});

test('a missing X-Signature is found', () => {
  const diagnosis = diagnose({ headers: { 'x-timestamp': TIMESTAMP, HTTP_X_SIGNATURE: hex } });
  expect(diagnosis.error?.code).toBe('MISSING_SIGNATURE');
  expect(diagnosis).not.toHaveProperty('secretIndex');
  expect(codesOf(diagnosis)).toEqual(['signature-missing']);
  expect(diagnosis.findings[0]?.remedy).toContain('dropped or renamed X-Signature');
});
