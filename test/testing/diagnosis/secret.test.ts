import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type CallbackFindingCode, InvalidOptionError } from '../../../src/testing/index.js';
import { COMPACT, codesOf, diagnose, expectExplained, now, SECRET } from './scene.js';

const key = Buffer.from('fbef3effffc1d2771f88e4fa903b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d', 'hex');
const base64 = key.toString('base64');
const base64url = key.toString('base64url');
const hex = key.toString('hex');

type Row = [
  name: string,
  given: string | Uint8Array,
  key: string | Uint8Array,
  ...codes: CallbackFindingCode[],
];

describe('a secret that was read wrongly is explained:', () => {
  test.each<Row>([
    ['a line break at its end', `${SECRET}\n`, SECRET, 'secret-edge-space'],
    ['a CR LF at its end', `${SECRET}\r\n`, SECRET, 'secret-edge-space'],
    ['blanks around it', ` ${SECRET}\t`, SECRET, 'secret-edge-space'],
    ['a line break at the end of bytes', Buffer.from(`${SECRET}\n`), SECRET, 'secret-edge-space'],
    ['double quotes', `"${SECRET}"`, SECRET, 'secret-quoted'],
    ['single quotes', `'${SECRET}'`, SECRET, 'secret-quoted'],
    ['quotes and a line break', `"${SECRET}"\n`, SECRET, 'secret-edge-space', 'secret-quoted'],
    ['NAME=value', `MERCHANT_PAYMENTS_SIGNING_SECRET=${SECRET}`, SECRET, 'secret-assignment'],
    ['export NAME=value', `export SIGNING_SECRET=${SECRET}`, SECRET, 'secret-assignment'],
    ['NAME=value as bytes', Buffer.from(`_S1=${SECRET}`), SECRET, 'secret-assignment'],
    ['NAME=value that holds an equals sign', 'S=one=two', 'one=two', 'secret-assignment'],
    ['NAME="value"', `S="${SECRET}"`, SECRET, 'secret-quoted', 'secret-assignment'],
    ['"NAME=value"', `"S=${SECRET}"`, SECRET, 'secret-quoted', 'secret-assignment'],
    ['NAME = value', `S = ${SECRET}`, SECRET, 'secret-edge-space', 'secret-assignment'],
    ['a line of a file', `S=${SECRET}\n`, SECRET, 'secret-edge-space', 'secret-assignment'],
    ['NAME=base64', `S=${base64}`, key, 'secret-assignment', 'secret-not-decoded'],
    ['URL-encoded', 'a%2Bb%2Fc%3D', 'a+b/c=', 'secret-url-encoded'],
    ['URL-encoded in lower case', 'a%2bb%c3%a9', 'a+bé', 'secret-url-encoded'],
    ['URL-encoded twice', 'a%252Bb', 'a+b', 'secret-url-encoded'],
    [
      'NAME=URL-encoded base64',
      `S=${encodeURIComponent(base64)}`,
      base64,
      'secret-assignment',
      'secret-url-encoded',
    ],
    ['hex in capitals', hex.toUpperCase(), hex, 'secret-hex-case'],
    ['hex in small letters', hex, hex.toUpperCase(), 'secret-hex-case'],
    ['hex in both cases', 'aB01', 'ab01', 'secret-hex-case'],
    ['hex in both cases, of capitals', 'aB01', 'AB01', 'secret-hex-case'],
    ['NAME=hex in capitals', `S=${hex.toUpperCase()}`, hex, 'secret-assignment', 'secret-hex-case'],
    ['\\n at its end', `${SECRET}\\n`, SECRET, 'secret-escaped-newline'],
    ['\\n in the middle', 'line one\\nline two', 'line one\nline two', 'secret-escaped-newline'],
    ['\\n inside quotes', `"${SECRET}\\n"`, SECRET, 'secret-quoted', 'secret-escaped-newline'],
    ['still base64', base64, key, 'secret-not-decoded'],
    ['still base64 without padding', base64.replace('=', ''), key, 'secret-not-decoded'],
    ['still base64url', base64url, key, 'secret-not-decoded'],
    ['still hex', hex, key, 'secret-not-decoded'],
    ['still hex, in capitals', hex.toUpperCase(), key, 'secret-not-decoded'],
    ['bytes of the base64', Buffer.from(base64), key, 'secret-not-decoded'],
    ['decoded from base64', key, base64, 'secret-decoded'],
    ['decoded from base64 without padding', key, base64.replace('=', ''), 'secret-decoded'],
    ['decoded from base64url', key, base64url, 'secret-decoded'],
    ['decoded from hex', key, hex, 'secret-decoded'],
    ['decoded from hex in capitals', key, hex.toUpperCase(), 'secret-decoded'],
    ['decoded to text', 'plain text', Buffer.from('plain text').toString('hex'), 'secret-decoded'],
    ['atob() of it', key.toString('latin1'), key, 'secret-binary-string'],
    [
      'atob() of the text',
      key.toString('latin1'),
      base64,
      'secret-decoded',
      'secret-binary-string',
    ],
    ['whsec_ before base64', `whsec_${base64}`, key, 'secret-prefixed'],
    ['whsec_ before base64url', `whsec_${base64url}`, key, 'secret-prefixed'],
    ['whsec_ before hex', `whsec_${hex}`, key, 'secret-prefixed'],
    ['a prefix of two words', `sk_test_${base64}`, key, 'secret-prefixed'],
    ['a prefix before the text', `whsec_${SECRET}`, SECRET, 'secret-prefixed'],
    ['base64 in quotes', `"${base64}"`, key, 'secret-quoted', 'secret-not-decoded'],
  ])('%s', (_name, signingSecret, signer, ...codes) => {
    const diagnosis = diagnose({ key: signer, options: { signingSecret } });
    expectExplained(diagnosis, ...codes);
    expect(diagnosis.secretIndex).toBe(0);
  });

  test('a KeyObject of the wrong bytes', () => {
    const signingSecret = createSecretKey(Buffer.from(base64));
    expectExplained(diagnose({ key, options: { signingSecret } }), 'secret-not-decoded');
  });

  test('the encoding that the key really has is named', () => {
    for (const [given, encoding] of [
      [hex, 'hex'],
      [base64, 'base64'],
      [base64url, 'base64url'],
    ] as const) {
      const [finding] = diagnose({ key, options: { signingSecret: given } }).findings;
      expect(finding?.remedy).toContain(`Buffer.from(secret, '${encoding}')`);
    }
  });
});

test('the case that hex really has is named', () => {
  for (const [given, signer, letters, call] of [
    [hex, hex.toUpperCase(), 'upper', 'toUpperCase()'],
    [hex.toUpperCase(), hex, 'lower', 'toLowerCase()'],
  ] as const) {
    const [finding] = diagnose({ key: signer, options: { signingSecret: given } }).findings;
    expect(finding?.message).toContain(`in ${letters} case`);
    expect(finding?.remedy).toContain(call);
  }
});

test('hex without letters has no other case to try', () => {
  const countReadings = (signingSecret: string) => {
    const [finding] = diagnose({ key: 'other', options: { signingSecret } }).findings;
    return Number.parseInt(finding?.tried?.[0] ?? '', 10);
  };
  // Decoded it is one reading more than text that is no hex.
  const plain = countReadings('xy34') + 1;
  expect(countReadings('1234')).toBe(plain);
  expect(countReadings('ab34')).toBe(plain + 1);
});

test('the same text is no misreading of itself', () => {
  for (const signingSecret of ['1234', 'S=1', '100%', '%zz', 'abcd==']) {
    const options = { signingSecret, now: () => now() + 999_000 };
    expect(codesOf(diagnose({ key: signingSecret, options }))).toEqual([
      'timestamp-outside-window',
    ]);
  }
});

describe('white space at an edge', () => {
  test('is what verifyCallback throws, and comes first', () => {
    const diagnosis = diagnose({
      rawBody: `${COMPACT}\n`,
      options: { signingSecret: `${SECRET}\n` },
    });
    expect(diagnosis.error).toEqual({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('signingSecret must not begin or end with white space'),
    });
    expectExplained(diagnosis, 'secret-edge-space', 'body-trailing-newline');
  });

  test('is told even when nothing explains the signature', () => {
    const diagnosis = diagnose({ key: 'other', options: { signingSecret: `${SECRET}\n` } });
    expect(codesOf(diagnosis)).toEqual(['secret-edge-space', 'unexplained']);
  });

  test('can be part of the key', () => {
    const signingSecret = `${SECRET}\n`;
    const diagnosis = diagnose({ key: signingSecret, options: { signingSecret } });
    expectExplained(diagnosis, 'secret-edge-space');
    expect(diagnosis.findings[0]?.message).toContain('made with that white space');
  });

  test('of one secret of several is named by its place', () => {
    const diagnosis = diagnose({ options: { signingSecret: ['other', `${SECRET} `] } });
    expect(diagnosis.error?.message).toMatch(/^signingSecret\[1\] /);
    expectExplained(diagnosis, 'secret-edge-space');
    expect(diagnosis.secretIndex).toBe(1);
  });

  test('of another secret than the one that matches is still what is refused', () => {
    const diagnosis = diagnose({ options: { signingSecret: ['other ', SECRET] } });
    expect(diagnosis).toMatchObject({ verified: false, secretIndex: 1, signature: 'right' });
    expect(codesOf(diagnosis)).toEqual(['secret-edge-space']);
  });
});

test('a prefix with nothing behind it stands for no empty key, by which anybody can sign', () => {
  const diagnosis = diagnose({ key: '', options: { signingSecret: 'whsec_' } });
  expect(codesOf(diagnosis)).toEqual(['unexplained']);
});

test('a name stands for no key of punctuation alone, which anybody could guess', () => {
  for (const [signingSecret, signer] of [
    ['abcd==', '='],
    ['S=""', '""'],
    ['S=', 'S'],
  ] as const) {
    const diagnosis = diagnose({ key: signer, options: { signingSecret } });
    expect(codesOf(diagnosis)).toEqual(['unexplained']);
  }
});

test('a text of more than 4096 bytes is not read in other ways', () => {
  for (const [length, signature] of [
    [2048, 'explained'],
    [2049, 'unexplained'],
  ] as const) {
    const long = Buffer.alloc(length, 7);
    const diagnosis = diagnose({ key: long, options: { signingSecret: long.toString('hex') } });
    expect(diagnosis.signature).toBe(signature);
  }
});

describe('several secrets', () => {
  test('verify by any of them, saying which', () => {
    const diagnosis = diagnose({ options: { signingSecret: ['one', 'two', SECRET] } });
    expect(diagnosis).toMatchObject({ verified: true, secretIndex: 2, findings: [] });
  });

  test('are all read in other ways', () => {
    const diagnosis = diagnose({ key, options: { signingSecret: ['one', 'two', base64] } });
    expectExplained(diagnosis, 'secret-not-decoded');
    expect(diagnosis.secretIndex).toBe(2);
  });

  test('by the thousand are all tried as given, and end', () => {
    const many = Array.from({ length: 12_000 }, (_, index) => `another-${index}`);
    const options = { signingSecret: [...many, SECRET], now: () => now() + 999_000 };
    const diagnosis = diagnose({ options });
    expect(diagnosis).toMatchObject({ secretIndex: 12_000, signature: 'right' });
  });
});

describe('a secret that is none is refused as an option:', () => {
  test.each([
    ['empty', ''],
    ['blank', ' \n'],
    ['no bytes', new Uint8Array()],
    ['no list', []],
    ['nothing', undefined],
    ['a number', 5],
    ['an empty one in a list', [SECRET, '']],
    ['an empty one beside one with a blank', [`${SECRET} `, '']],
  ])('%s', (_name, signingSecret) => {
    expect(() => diagnose({ options: { signingSecret: signingSecret as never } })).toThrow(
      InvalidOptionError,
    );
  });

  test('naming it as it was given', () => {
    expect(() => diagnose({ options: { signingSecret: '' } })).toThrow(
      expect.objectContaining({ option: 'signingSecret' }),
    );
    expect(() => diagnose({ options: { signingSecret: [SECRET, ''] } })).toThrow(
      expect.objectContaining({ option: 'signingSecret[1]' }),
    );
  });
});
