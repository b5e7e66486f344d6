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
const base64 = digest.toString('base64');

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

  test('and listed beside another secret', () => {
    const diagnosis = diagnose({ key: 'other', options: { signatureEncoding: 'base64' } });
    expect(codesOf(diagnosis)).toEqual(['signature-encoding', 'secret-other']);
  });
});

describe('a signature that is not a digest', () => {
  test.each([
    ['cut hex', hex.slice(0, 63), '63 characters, all hex digits'],
    [
      'SHA-1',
      hmac(COMPACT, { algorithm: 'sha1' }).toString('hex'),
      '40 characters, all hex digits',
    ],
    ['cut base64', `${base64.slice(0, 30)}=`, '31 characters.'],
    ['other text', 'no signature!', '13 characters.'],
    ['very long', 'ab'.repeat(100_000), '200000 characters, all hex digits'],
    ['a prefix', `sha256=${hex}`, '71 characters.'],
    ['white space', ` ${hex}`, '65 characters.'],
    ['quotes', `"${hex}"`, '66 characters.'],
  ])('is malformed: %s', (_name, signature, reason) => {
    const diagnosis = diagnose({ signature });
    expect(diagnosis.signature).toBe('unexplained');
    expect(codesOf(diagnosis)).toEqual(['signature-malformed']);
    expect(diagnosis.findings[0]?.message).toContain(reason);
    expect(diagnosis.findings[0]?.remedy).toContain('without white space, quotes or a prefix');
  });

  test('is missing when it is not text', () => {
    const diagnosis = diagnose({ signature: 5 });
    expect(diagnosis.signature).toBe('missing');
    expect(codesOf(diagnosis)).toEqual(['signature-missing']);
  });
});

describe('a signature with more than one value', () => {
  const other = 'ab'.repeat(32);

  test.each<[string, unknown]>([
    ['as a list', [hex, other]],
    ['as a list with an empty one', ['', hex]],
    ['joined by Node', `${hex}, ${hex}`],
    ['joined in base64', `${base64},${base64}`],
  ])('is malformed, and tried by its first: %s', (_name, signature) => {
    const diagnosis = diagnose({ signature });
    expect(diagnosis.error?.code).toBe('INVALID_SIGNATURE');
    expectExplained(diagnosis, 'signature-malformed');
    expect(diagnosis.findings[0]?.message).toBe('X-Signature has more than one value.');
  });

  test('is malformed when the first is not a digest', () => {
    expect(codesOf(diagnose({ signature: `t=${TIMESTAMP},v1=${hex}` }))).toEqual([
      'signature-malformed',
    ]);
  });
});

describe('a missing X-Signature', () => {
  test('is found', () => {
    const diagnosis = diagnose({ headers: { 'x-timestamp': TIMESTAMP, signed: 'no' } });
    expect(diagnosis).toMatchObject({ signature: 'missing', error: { code: 'MISSING_SIGNATURE' } });
    expect(codesOf(diagnosis)).toEqual(['signature-missing']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual([]);
    expect(diagnosis.findings[0]?.remedy).toContain('dropped or renamed X-Signature');
  });

  test.each(['x-hub-signature-256', 'Signature', 'x_signature', 'HTTP_X_SIGNATURE'])(
    'is looked for in %s',
    (name) => {
      const diagnosis = diagnose({ headers: { 'x-timestamp': TIMESTAMP, [name]: hex } });
      expectExplained(diagnosis, 'signature-missing');
      expect(diagnosis.findings[0]).toMatchObject({
        message: `X-Signature is missing. Received with a similar name: ${name}.`,
        remedy: `Pass the value of ${name} as x-signature.`,
        similarHeaders: [name],
      });
    },
  );

  test('stays missing when a header with a similar name does not hold it', () => {
    const headers = { 'x-timestamp': TIMESTAMP, 'x-hub-signature': 'ab'.repeat(32), sig: hex };
    const diagnosis = diagnose({ headers });
    expect(codesOf(diagnosis)).toEqual(['signature-missing', 'unexplained']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual(['x-hub-signature']);
    expect(diagnosis.signature).toBe('missing');
  });
});

describe('headers in other shapes are read alike:', () => {
  const pairs: [string, string][] = [
    ['X-Timestamp', TIMESTAMP],
    ['X-Signature', hex],
  ];

  test.each([
    ['a Headers', new Headers(pairs)],
    ['pairs', pairs],
    ['a Map', new Map(pairs)],
    ['lists of values', Object.fromEntries(pairs.map(([name, value]) => [name, [value]]))],
    [
      'something with get and append alone',
      { get: (name: string) => new Headers(pairs).get(name), append: () => undefined },
    ],
  ])('%s', (_name, headers) => {
    expectExplained(
      diagnose({ rawBody: `${COMPACT}\n`, headers: headers as never }),
      'body-reserialized',
    );
  });

  test('two in pairs are two values', () => {
    const headers = [...pairs, ['x-signature', hex]];
    expectExplained(diagnose({ headers: headers as never }), 'signature-malformed');
  });
});
