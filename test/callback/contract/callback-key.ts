import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOW_SECONDS, refusalOf, sampleRecord, sampleRequest } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

// python3 -c "import hashlib, base64; print(base64.urlsafe_b64encode(hashlib.sha256('<text>'.encode()).digest()))"
// where the text is <length of referenceNumber>.<length of status>.<referenceNumber><status><updatedAt>,
// lengths in UTF-16 units; openssl dgst -sha256 gives the same.
const pinned = [
  {
    fields: {},
    key: 'm4mdVNoFlSIvBDbUrbCDnLRO0NO0v6I4kOCF54HJBZw',
  },
  {
    fields: {
      referenceNumber: 'réf-\u{1F9FE}',
      status: 'payé',
      updatedAt: '2026-01-31T12:00:05Z',
    },
    key: 'NLQqE_fahPKp_PPmZH4XAAtWF1DKGnPsJDOF2qrE5O8',
  },
];

const triple = fc.record({
  referenceNumber: fc.string({ minLength: 1, unit: 'grapheme' }),
  status: fc.string({ minLength: 1, unit: 'grapheme' }),
  updatedAt: fc.string({ minLength: 1, unit: 'grapheme' }),
});

// Few characters, so that many triples have the same text when simply joined.
const similarTriple = fc.record({
  referenceNumber: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('1', '.') }),
  status: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('1', '.') }),
  updatedAt: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('1', '.') }),
});

export function describeCallbackKey(implementation: Implementation): void {
  const { callbackKey } = implementation;
  const verify = sampleVerifier(implementation);

  describe('callbackKey', () => {
    it.each(pinned)('equals the digest by Python and openssl: $key', async ({ fields, key }) => {
      expect(await callbackKey(sampleRecord(fields))).toBe(key);
    });

    it('is the key that a verified callback carries', async () => {
      expect((await verify(sampleRequest())).key).toBe(await callbackKey(sampleRecord()));
    });

    it('holds letters, digits, hyphen and underscore only', async () => {
      await fc.assert(
        fc.asyncProperty(triple, async (fields) => {
          expect(await callbackKey(sampleRecord(fields))).toMatch(/^[A-Za-z0-9_-]{43}$/);
        }),
      );
    });

    it.each([
      { kind: 'any', arbitrary: triple },
      { kind: 'similar', arbitrary: similarTriple },
    ])('differs for two different triples: $kind', async ({ arbitrary }) => {
      await fc.assert(
        fc.asyncProperty(arbitrary, arbitrary, async (one, other) => {
          const same =
            one.referenceNumber === other.referenceNumber &&
            one.status === other.status &&
            one.updatedAt === other.updatedAt;
          const keys = [
            await callbackKey(sampleRecord(one)),
            await callbackKey(sampleRecord(other)),
          ];
          expect(keys[0] === keys[1]).toBe(same);
        }),
        { numRuns: 500 },
      );
    });

    it('differs for two lone surrogates, which UTF-8 has but one sign for', async () => {
      const keys = await Promise.all(
        ['a\ud800', 'a\ud801', 'a\ufffd', 'a\\ud800'].map((status) =>
          callbackKey(sampleRecord({ status })),
        ),
      );
      expect(new Set(keys).size).toBe(keys.length);
    });

    it.each([
      { what: 'signed anew', request: sampleRequest({ timestamp: String(NOW_SECONDS + 200) }) },
      { what: 'signed in base64', request: sampleRequest({ encoding: 'base64' }) },
      {
        what: 'with fields in another order',
        request: sampleRequest({
          body: JSON.stringify(Object.fromEntries(Object.entries(sampleRecord()).reverse())),
        }),
      },
      {
        what: 'with white space and a further field',
        request: sampleRequest({ body: JSON.stringify(sampleRecord({ attempt: 2 }), null, 2) }),
      },
    ])('is the same for another delivery of the change, $what', async ({ request }) => {
      expect((await verify(request)).key).toBe((await verify(sampleRequest())).key);
    });

    it.each(['referenceNumber', 'status', 'updatedAt'])('differs when %s does', async (field) => {
      expect(await callbackKey(sampleRecord({ [field]: 'other' }))).not.toBe(
        await callbackKey(sampleRecord()),
      );
    });

    it.each(['referenceNumber', 'status', 'updatedAt'])(
      'refuses a record whose %s is missing, empty or no string',
      async (field) => {
        for (const wrong of [undefined, '', 7, null]) {
          const error = await refusalOf(async () => callbackKey(sampleRecord({ [field]: wrong })));
          expect(error).toMatchObject({ code: 'INVALID_RECORD', issues: [{ path: [field] }] });
          expect(error.message).toContain(`${field} must be a non-empty string, but`);
        }
      },
    );
  });
}
