import { readFileSync } from 'node:fs';
import fc from 'fast-check';
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

// In nanoseconds.
const SECOND = 1_000_000_000n;

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

// Texts and instants whose keys were one if parts ran together or a digit were cut off.
const similarTexts = ['1', '-1', '1.1', '1.-1', '1.1.1', '-', '.', 'é', 'e', 'r'.repeat(120)];
const similarInstants = [
  ...[
    -SECOND,
    -1_001n,
    -1_000n,
    -999n,
    -1n,
    0n,
    1n,
    10n,
    999n,
    1_000n,
    1_001n,
    11_000n,
    1_000_000n,
  ],
  ...[SECOND, SECOND + 1n, SECOND + 1_000n, 9_999_999_999n * SECOND + 1n, 9_999_999_999n * SECOND],
];

const change = fc
  .record({
    referenceNumber: fc.oneof(
      fc.constantFrom('paid', ...similarTexts),
      fc.string({ minLength: 1 }),
    ),
    status: fc.oneof(fc.constantFrom('paid', ...similarTexts), fc.string({ minLength: 1 })),
    instant: fc.oneof(
      fc.constantFrom(...similarInstants),
      fc.bigInt({ min: -SECOND * SECOND, max: 10n ** 20n }),
    ),
  })
  .map((fields) => ({
    ...fields,
    updatedAt: spell(fields.instant, { offsetMinutes: 0, mark: '.', digits: 9 }),
  }));

interface Spelling {
  readonly offsetMinutes: number;
  readonly mark: '.' | ',';
  /** Of the fraction: those that are not zero are always written. */
  readonly digits: number;
}

const spelling: fc.Arbitrary<Spelling> = fc.record({
  offsetMinutes: fc.integer({ min: -23 * 60, max: 23 * 60 }),
  mark: fc.constantFrom('.', ','),
  digits: fc.integer({ min: 0, max: 12 }),
});

function spell(instant: bigint, { offsetMinutes, mark, digits }: Spelling): string {
  const nanoseconds = ((instant % SECOND) + SECOND) % SECOND;
  const seconds = Number((instant - nanoseconds) / SECOND) + offsetMinutes * 60;
  const local = new Date(seconds * 1000).toISOString().slice(0, 19);
  const fraction = String(nanoseconds).padStart(9, '0').replace(/0+$/, '').padEnd(digits, '0');
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.abs(offsetMinutes);
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return `${local}${fraction === '' ? '' : mark + fraction}${zone}`;
}

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

    it('holds letters, digits, hyphen, underscore and full stop only, 128 at most', async () => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(triple, change), async (fields) => {
          expect(await callbackKey(sampleRecord(fields))).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
        }),
      );
    });

    it('is the same for every spelling of an instant', async () => {
      await fc.assert(
        fc.asyncProperty(change, spelling, spelling, async (fields, one, other) => {
          const keyOf = (how: Spelling) =>
            callbackKey(sampleRecord({ ...fields, updatedAt: spell(fields.instant, how) }));
          expect(await keyOf(one)).toBe(await keyOf(other));
        }),
      );
    });

    it('differs for any two changes that differ in reference, status or instant', async () => {
      const keys = new Set<string>();
      for (const referenceNumber of similarTexts) {
        for (const status of similarTexts) {
          for (const instant of similarInstants) {
            const updatedAt = spell(instant, { offsetMinutes: -90, mark: ',', digits: 7 });
            keys.add(await callbackKey(sampleRecord({ referenceNumber, status, updatedAt })));
          }
        }
      }
      expect(keys.size).toBe(similarTexts.length ** 2 * similarInstants.length);
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
          expect(error.message).toMatch(
            new RegExp(`${field} (?:is missing, and )?must be a non-empty string`),
          );
        }
      },
    );
  });
}
