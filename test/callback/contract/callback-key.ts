import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NOW_SECONDS, refusalOf, sampleRecord, sampleRequest } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

interface KeyVector {
  name: string;
  referenceNumber: string;
  status: string;
  updatedAt: string;
  key: string;
}

const vectors: KeyVector[] = JSON.parse(
  readFileSync(new URL('../../vectors/callback-keys.json', import.meta.url), 'utf8'),
);

export function describeCallbackKey(implementation: Implementation): void {
  const { callbackKey } = implementation;
  const verify = sampleVerifier(implementation);

  describe('callbackKey', () => {
    it.each(vectors)(
      'equals the one made by Python: $name',
      async ({ name: _, key, ...fields }) => {
        expect(await callbackKey(sampleRecord(fields))).toBe(key);
      },
    );

    it('is the key that a verified callback carries', async () => {
      expect((await verify(sampleRequest())).key).toBe(await callbackKey(sampleRecord()));
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
      {
        what: 'with white space and a further field',
        request: sampleRequest({ body: JSON.stringify(sampleRecord({ attempt: 2 }), null, 2) }),
      },
    ])('is the same for another delivery of the change, $what', async ({ request }) => {
      expect((await verify(request)).key).toBe((await verify(sampleRequest())).key);
    });

    it.each(['referenceNumber', 'status', 'updatedAt'])('differs when %s does', async (field) => {
      const other = await callbackKey(sampleRecord({ [field]: 'other' }));
      expect(other).not.toBe(await callbackKey(sampleRecord()));
    });

    it.each(['referenceNumber', 'status', 'updatedAt'])(
      'refuses a record whose %s is missing, empty or no string',
      async (field) => {
        for (const wrong of [undefined, '', 7, null]) {
          const error = await refusalOf(async () => callbackKey(sampleRecord({ [field]: wrong })));
          expect(error).toMatchObject({ code: 'INVALID_RECORD', issues: [{ path: [field] }] });
          expect(error.message).toMatch(
            new RegExp(`${field} (?:is missing, and )?must be a non-empty string`),
          );
        }
      },
    );
  });
}
