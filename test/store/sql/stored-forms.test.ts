import { describe, expect, it } from 'vitest';
import { databaseForms } from '../../../src/store/sql/sql.js';

const { toName } = databaseForms;

const DIGEST = /^sha256:[\w-]{43}$/;

describe('a stored name', () => {
  it.each([
    '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    'abc_DEF-123',
    '__proto__',
    `!"#$%&'()*+,-./:;<=>?@[\\]^_\`|~`,
    'SHA256:abc',
    'x'.repeat(128),
  ])('is the name itself when that is short and printable: %s', (name) => {
    expect(toName(name)).toBe(name);
  });

  it.each([
    ['a brace', 'a{b'],
    ['a closing brace', 'a}b'],
    ['a blank', 'a b'],
    ['a blank at the end', 'a '],
    ['a line end', 'a\n'],
    ['NUL', 'a\0'],
    ['DEL', 'a\u007f'],
    ['a letter beyond ASCII', 'é'],
    ['a letter beyond the first plane', '\u{1f4b8}'],
    ['129 characters', 'x'.repeat(129)],
    ['5,000 characters', 'x'.repeat(5000)],
    ['nothing', ''],
    ['the look of a digest', 'sha256:abc'],
  ])('is a digest when the name has %s', (_, name) => {
    expect(toName(name)).toMatch(DIGEST);
  });

  it('is the SHA-256 of the text in UTF-16, low byte first, in base64url', () => {
    // printf '\xe9\x00' | openssl dgst -sha256 -binary | basenc --base64url
    expect(toName('é')).toBe('sha256:Y-PIB_k_ZpomJfN-5nNybDbvPpm2t9sCyRC-JQh-D5w');
  });

  it('distinguishes lone surrogates, which UTF-8 encodes alike', () => {
    expect(toName('a\ud800')).not.toBe(toName('a\udc00'));
  });

  it('differs from that of a name that looks like it', () => {
    const stored = toName('é');
    expect(toName(stored)).not.toBe(stored);
  });

  it('distinguishes different normal forms', () => {
    expect(toName('é')).not.toBe(toName('e\u0301'));
  });
});
