import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleRecord } from '../sample-callback.js';
import type { Implementation } from './implementation.js';

// In nanoseconds.
const SECOND = 1_000_000_000n;

// Texts and instants whose keys were one if parts ran together or a digit were cut off.
const similarTexts = ['1', '-1', '1.1', '1.-1', '1.1.1', '-', '.', 'é', 'e', 'r'.repeat(120)];
const similarInstants = [
  ...[-SECOND, -1_001n, -1_000n, -999n, 0n, 1n, 10n, 999n, 1_000n, 1_001n, 11_000n, 1_000_000n],
  ...[SECOND, SECOND + 1n, 9_999_999_999n * SECOND + 1n, 9_999_999_999n * SECOND],
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

export function describeCallbackKeyProperties({ callbackKey }: Implementation): void {
  describe('callbackKey', () => {
    it('is the same for every spelling of an instant', async () => {
      await fc.assert(
        fc.asyncProperty(change, spelling, spelling, async (fields, one, other) => {
          const keyOf = (how: Spelling) =>
            callbackKey(sampleRecord({ ...fields, updatedAt: spell(fields.instant, how) }));
          expect(await keyOf(one)).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
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
  });
}
