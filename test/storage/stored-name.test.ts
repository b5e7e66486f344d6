import { describe, expect, it } from 'vitest';
import { toStoredName } from '../../src/store/stored-name.js';

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
    expect(toStoredName(name)).toBe(name);
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
    expect(toStoredName(name)).toMatch(DIGEST);
  });

  it('is the SHA-256 of the text in UTF-16, low byte first, in base64url', () => {
    // printf '\xe9\x00' | openssl dgst -sha256 -binary | basenc --base64url
    expect(toStoredName('é')).toBe('sha256:Y-PIB_k_ZpomJfN-5nNybDbvPpm2t9sCyRC-JQh-D5w');
  });

  it('distinguishes lone surrogates, which UTF-8 encodes alike', () => {
    expect(toStoredName('a\ud800')).not.toBe(toStoredName('a\udc00'));
  });

  it('differs from that of a name that looks like it', () => {
    const stored = toStoredName('é');
    expect(toStoredName(stored)).not.toBe(stored);
  });

  it('distinguishes different normal forms', () => {
    expect(toStoredName('é')).not.toBe(toStoredName('e\u0301'));
  });
});
