import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Encoding,
  OTHER_SECRET,
  refusalOf,
  SECRET,
  sampleRecord,
  sampleRequest,
  sign,
} from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

// A digest whose base64 shows both characters in which the two alphabets differ.
const body = Array.from({ length: 100 }, (_, index) =>
  JSON.stringify(sampleRecord({ merchantPaymentReference: `order-${index}` })),
).find((candidate) => /\+.*\/|\/.*\+/.test(sign(candidate, { encoding: 'base64' }))) as string;
const hex = sign(body, { encoding: 'hex' });
const base64 = sign(body, { encoding: 'base64' });
const base64url = sign(body, { encoding: 'base64url' });

const spellings: { what: string; text: string; encoding: Encoding }[] = [
  { what: 'hex in lower case', text: hex, encoding: 'hex' },
  { what: 'hex in upper case', text: hex.toUpperCase(), encoding: 'hex' },
  {
    what: 'hex in both cases',
    text: hex.slice(0, 32) + hex.slice(32).toUpperCase(),
    encoding: 'hex',
  },
  { what: 'base64 with padding', text: base64, encoding: 'base64' },
  { what: 'base64 without padding', text: base64.slice(0, 43), encoding: 'base64' },
  { what: 'base64url without padding', text: base64url, encoding: 'base64url' },
  { what: 'base64url with padding', text: `${base64url}=`, encoding: 'base64url' },
];

const malformed: [string, string][] = [
  ['63 hex digits', hex.slice(1)],
  ['65 hex digits', `${hex}0`],
  ['64 characters that are not hex', `g${hex.slice(1)}`],
  ['base64 of 31 bytes', Buffer.alloc(31, 1).toString('base64')],
  ['base64 of 33 bytes', Buffer.alloc(33, 1).toString('base64')],
  ['base64 padded twice', `${base64}=`],
  ['base64 with its padding in front', `=${base64url.slice(0, 43)}`],
  ['both base64 alphabets in one', base64.replace('+', '-')],
  ['a line feed after hex', `${hex}\n`],
  ['one character beyond ASCII', `é${hex.slice(1)}`],
  ['a megabyte', 'a'.repeat(1_048_576)],
];

export function describeSignatures(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);
  const signed = (signature: string) => {
    const request = sampleRequest({ body });
    return { ...request, headers: { ...request.headers, 'x-signature': signature } };
  };

  describe('X-Signature', () => {
    it.each(spellings)('accepts $what', async ({ text, encoding }) => {
      await verify(signed(text));
      await verify(signed(text), { signatureEncoding: encoding });
    });

    it.each(['hex', 'base64', 'base64url'] as const)(
      "signatureEncoding: '%s' refuses the others",
      async (signatureEncoding) => {
        const others = spellings.filter(({ encoding }) => encoding !== signatureEncoding);
        for (const { text } of others) {
          const error = await refusalOf(() => verify(signed(text), { signatureEncoding }));
          expect(error.code).toBe('INVALID_SIGNATURE');
          expect(error.message).toContain(
            `must be a SHA-256 digest in ${signatureEncoding}; received ${text.length} characters`,
          );
        }
      },
    );

    it.each(malformed)('refuses %s as INVALID_SIGNATURE', async (_what, text) => {
      const error = await refusalOf(() => verify(signed(text)));
      expect(error.code).toBe('INVALID_SIGNATURE');
      expect(error.message).toContain(
        'must be a SHA-256 digest in hex, base64 or base64url; received',
      );
    });

    it.each([
      { what: 'another secret in hex', text: sign(body, { secret: OTHER_SECRET }) },
      { what: 'another body', text: sign(`${body} `) },
      { what: 'another timestamp', text: sign(body, { timestamp: '1769860806' }) },
    ])('refuses the well-formed digest of $what as SIGNATURE_MISMATCH', async ({ text }) => {
      const error = await refusalOf(() => verify(signed(text)));
      expect(error.code).toBe('SIGNATURE_MISMATCH');
      expect(error.message).toContain('does not match the body under the signing secret: check');
    });

    it('refuses a digest over the body alone, or joined without the full stop', async () => {
      for (const message of [String(body), `1769860805${body}`, `1769860805.\n${body}`]) {
        const text = createHmac('sha256', SECRET).update(message).digest('hex');
        expect((await refusalOf(() => verify(signed(text)))).code).toBe('SIGNATURE_MISMATCH');
      }
    });
  });
}
