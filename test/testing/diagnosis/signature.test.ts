import { describe, expect, test } from 'vitest';
import type { CallbackFindingCode } from '../../../src/testing/index.js';
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
const doubled = Buffer.from(hex).toString('base64');

describe('a signature that was written in another way is explained:', () => {
  test.each<[string, string, ...CallbackFindingCode[]]>([
    ['sha256=hex', `sha256=${hex}`, 'signature-prefixed'],
    ['sha256=base64', `sha256=${base64}`, 'signature-prefixed'],
    ['v1=hex', `v1=${hex}`, 'signature-prefixed'],
    ['v1,base64', `v1,${base64}`, 'signature-prefixed'],
    ['v1:hex', `v1:${hex}`, 'signature-prefixed'],
    ['t=…,v1=hex', `t=${TIMESTAMP},v1=${hex}`, 'signature-prefixed'],
    ['a scheme and a blank', `HMAC-SHA256 ${hex}`, 'signature-prefixed'],
    ['a blank before it', ` ${hex}`, 'signature-edge-space'],
    ['a line break behind it', `${base64}\n`, 'signature-edge-space'],
    ['double quotes', `"${hex}"`, 'signature-quoted'],
    ['single quotes', `'${base64}'`, 'signature-quoted'],
    ['quotes and blanks', ` "${hex}" `, 'signature-edge-space', 'signature-quoted'],
    ['base64 of the hex text', doubled, 'signature-base64-of-hex'],
    [
      'a prefix and base64 of the hex text',
      `v1=${doubled}`,
      'signature-prefixed',
      'signature-base64-of-hex',
    ],
    ['twice, joined by a proxy', `${hex}, ${hex}`, 'signature-repeated'],
    ['twice in base64, joined by a proxy', `${base64}, ${base64}`, 'signature-repeated'],
  ])('%s', (_name, signature, ...codes) => {
    const diagnosis = diagnose({ signature });
    expect(diagnosis.error?.code).toBe('INVALID_SIGNATURE');
    expectExplained(diagnosis, ...codes);
  });

  test('base64 of the hex text of a longer digest', () => {
    const sha512 = hmac(`${TIMESTAMP}.${COMPACT}`, { algorithm: 'sha512' }).toString('hex');
    expectExplained(
      diagnose({ signature: Buffer.from(sha512).toString('base64') }),
      'signature-base64-of-hex',
      'signature-other-algorithm',
    );
  });

  test('given twice, of which one is right', () => {
    for (const signature of [
      [hex, 'ab'.repeat(32)],
      ['cd'.repeat(32), base64],
    ]) {
      expectExplained(diagnose({ signature }), 'signature-repeated');
    }
  });

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
  ] as const)('signatureEncoding narrowed to %s, of %s', (signatureEncoding, encoding) => {
    if (timestamp === undefined) throw new Error('no digest has both characters');
    const signature = sign(COMPACT, { timestamp, encoding });
    const diagnosis = diagnose({ timestamp, signature, options: { signatureEncoding } });
    expectExplained(diagnosis, 'signature-encoding');
    expect(diagnosis.findings[0]?.message).toContain(`a digest in ${encoding}`);
    expect(diagnosis.findings[0]?.remedy).toContain(`signatureEncoding: '${encoding}'`);
  });
});

describe('a digest of another hash', () => {
  test.each([
    ['sha1', 'SHA-1'],
    ['sha384', 'SHA-384'],
    ['sha512', 'SHA-512'],
  ])('%s is told, and that it is really that HMAC', (algorithm, name) => {
    for (const encoding of ['hex', 'base64'] as const) {
      const signature = hmac(`${TIMESTAMP}.${COMPACT}`, { algorithm }).toString(encoding);
      const diagnosis = diagnose({ signature });
      expectExplained(diagnosis, 'signature-other-algorithm');
      expect(diagnosis.findings[0]?.message).toContain(`it is an HMAC ${name}`);
    }
  });

  test('is only suspected when it does not match', () => {
    const diagnosis = diagnose({ signature: 'ab'.repeat(20) });
    expect(codesOf(diagnosis)).toEqual(['signature-other-algorithm', 'unexplained']);
    expect(diagnosis.findings[0]?.message).toContain('looks like SHA-1, but is no HMAC');
  });
});

test('signatures by two hashes are both checked', () => {
  const sha1 = hmac(`${TIMESTAMP}.${COMPACT}`, { algorithm: 'sha1' }).toString('hex');
  expectExplained(diagnose({ signature: `v0=${'ab'.repeat(20)},v1=${hex}` }), 'signature-prefixed');
  expectExplained(
    diagnose({ signature: `v0=${sha1},v1=${'ab'.repeat(32)}` }),
    'signature-prefixed',
    'signature-other-algorithm',
  );
});

describe('a signature that is no digest', () => {
  test.each([
    ['cut hex', hex.slice(0, 63), 'all hex digits'],
    ['cut base64', `${base64.slice(0, 30)}=`, 'could be base64'],
    ['other text', 'no signature!', 'neither hex nor base64'],
    // The last character carries two bits that no digest has.
    ['base64 with spare bits', `${base64.slice(0, 42)}h=`, 'could be base64'],
    ['a number', 5, 'is no text'],
    ['very long', 'ab'.repeat(100_000), 'all hex digits'],
  ])('is malformed: %s', (_name, signature, reason) => {
    const diagnosis = diagnose({ signature });
    expect(diagnosis.signature).toBe(typeof signature === 'string' ? 'unexplained' : 'missing');
    expect(codesOf(diagnosis)).toEqual([
      typeof signature === 'string' ? 'signature-malformed' : 'signature-missing',
    ]);
    if (typeof signature === 'string') expect(diagnosis.findings[0]?.message).toContain(reason);
  });
});

describe('a missing X-Signature', () => {
  test('is told', () => {
    const diagnosis = diagnose({ headers: { 'x-timestamp': TIMESTAMP, signed: 'no' } });
    expect(diagnosis).toMatchObject({ signature: 'missing', error: { code: 'MISSING_SIGNATURE' } });
    expect(codesOf(diagnosis)).toEqual(['signature-missing']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual([]);
  });

  test.each(['x-hub-signature-256', 'Signature', 'x_signature', 'HTTP_X_SIGNATURE', 'X-HMAC'])(
    'is found in %s when it came there',
    (name) => {
      const diagnosis = diagnose({ headers: { 'x-timestamp': TIMESTAMP, [name]: hex } });
      expectExplained(diagnosis, 'signature-missing');
      expect(diagnosis.findings[0]).toMatchObject({
        message: `X-Signature is missing; the header ${name} holds the signature.`,
        similarHeaders: [name],
      });
    },
  );

  test('is found in a header with a prefix', () => {
    const headers = { 'x-timestamp': TIMESTAMP, 'x-hub-signature-256': `sha256=${hex}` };
    expectExplained(diagnose({ headers }), 'signature-missing', 'signature-prefixed');
  });

  test('names headers of a similar name that do not hold it', () => {
    const headers = { 'x-timestamp': TIMESTAMP, 'x-hub-signature': 'ab'.repeat(32), sig: hex };
    const diagnosis = diagnose({ headers });
    expect(codesOf(diagnosis)).toEqual(['signature-missing', 'unexplained']);
    expect(diagnosis.findings[0]?.similarHeaders).toEqual(['x-hub-signature']);
    expect(diagnosis.signature).toBe('missing');
  });
});

describe('X-Timestamp and X-Signature that are swapped', () => {
  const swap = (timestamp: unknown, signature: unknown) => ({
    'x-timestamp': signature,
    'x-signature': timestamp,
  });

  test.each<[string, object, ...CallbackFindingCode[]]>([
    ['in hex', swap(TIMESTAMP, hex)],
    ['in base64', swap(TIMESTAMP, base64)],
    ['as lists', swap([TIMESTAMP], [hex])],
    ['with a prefix', swap(TIMESTAMP, `sha256=${hex}`), 'signature-prefixed'],
    ['repeated', swap([TIMESTAMP, TIMESTAMP], hex), 'timestamp-repeated'],
  ])('are told: %s', (_name, headers, ...more) => {
    const diagnosis = diagnose({ headers: headers as Record<string, unknown> });
    expectExplained(diagnosis, 'timestamp-signature-swapped', ...more);
  });

  test('are told first, as what X-Timestamp is refused for', () => {
    const diagnosis = diagnose({ headers: swap(TIMESTAMP, `v1=${hex}`) });
    expect(diagnosis.error?.code).toBe('INVALID_TIMESTAMP');
    expect(diagnosis.findings[0]).toMatchObject({
      code: 'timestamp-signature-swapped',
      message: expect.stringContaining('each holds the value of the other'),
    });
  });

  test('are told beside a late callback and a body that was changed', () => {
    const timestamp = String(NOW_SECONDS - 400);
    const headers = swap(timestamp, sign(COMPACT, { timestamp }));
    expectExplained(
      diagnose({ headers, rawBody: `${COMPACT}\n` }),
      'timestamp-signature-swapped',
      'timestamp-outside-window',
      'body-trailing-newline',
    );
  });

  test('are told beside a signature that nothing explains', () => {
    const diagnosis = diagnose({ headers: swap(TIMESTAMP, 'ab'.repeat(32)) });
    expect(codesOf(diagnosis)).toEqual(['timestamp-signature-swapped', 'unexplained']);
  });

  test.each<[string, object, ...CallbackFindingCode[]]>([
    ['two digests', swap(hex, hex), 'timestamp-malformed', 'unexplained'],
    ['two timestamps', swap(TIMESTAMP, TIMESTAMP), 'signature-malformed'],
    [
      'a timestamp in X-Signature and no digest in X-Timestamp',
      swap(TIMESTAMP, 'yesterday'),
      'timestamp-malformed',
      'signature-malformed',
    ],
    [
      'a digest and no signature',
      { 'x-timestamp': hex },
      'signature-missing',
      'timestamp-malformed',
    ],
    [
      'a timestamp in X-Signature and none under its name',
      { 'x-signature': TIMESTAMP, 'x-timestamp-2': hex },
      'timestamp-missing',
      'signature-malformed',
    ],
  ])('are not seen in %s', (_name, headers, ...codes) => {
    expect(codesOf(diagnose({ headers: headers as Record<string, unknown> }))).toEqual(codes);
  });
});

describe('headers in other shapes are read alike:', () => {
  const pairs: [string, string][] = [
    ['X-Timestamp', TIMESTAMP],
    ['X-Signature', `sha256=${hex}`],
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
    expectExplained(diagnose({ headers: headers as never }), 'signature-prefixed');
  });

  test('an empty one beside it is a repeated header', () => {
    expectExplained(diagnose({ signature: [hex, ''] }), 'signature-repeated');
    expectExplained(diagnose({ signature: ['', hex] }), 'signature-repeated');
  });

  test('two in pairs are a repeated header', () => {
    const headers = [...pairs, ['x-signature', sign(COMPACT)]];
    expectExplained(diagnose({ headers: headers as never }), 'signature-repeated');
  });
});
