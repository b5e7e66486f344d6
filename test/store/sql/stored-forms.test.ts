import { describe, expect, it } from 'vitest';
import { databaseForms } from '../../../src/store/sql/sql.js';

const { toName } = databaseForms;

const DIGEST = /^sha256:[\w-]{43}$/;

describe('a stored name', () => {
  it.each(['__proto__', `!"#$%&'()*+,-./:;<=>?@[\\]^_\`|~`, 'SHA256:abc', 'x'.repeat(128)])(
    'is the name itself when that is short and printable: %s',
    (name) => {
      expect(toName(name)).toBe(name);
    },
  );

  it.each([
    ['a brace', 'a{b'],
    ['a blank at the end', 'a '],
    ['NUL', 'a\0'],
    ['DEL', 'a\u007f'],
    ['a letter beyond ASCII', 'é'],
    ['129 characters', 'x'.repeat(129)],
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
});
