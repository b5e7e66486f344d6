import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../src/protocol/instant.js';

const instant = (iso: string, microseconds = 0, finer = '') => ({
  occurredAt: new Date(iso),
  microseconds,
  finer,
});

describe('parseInstant', () => {
  it.each([
    ['2026-01-31T12:00:05Z', instant('2026-01-31T12:00:05Z')],
    ['2026-01-31t12:00:05z', instant('2026-01-31T12:00:05Z')],
    ['2026-01-31T12:00Z', instant('2026-01-31T12:00:00Z')],
    ['2026-01-31T14:00:05+02', instant('2026-01-31T12:00:05Z')],
    ['2026-01-31T09:30:05-0230', instant('2026-01-31T12:00:05Z')],
    ['2026-01-31T10:00:05.5-02', instant('2026-01-31T12:00:05.500Z')],
    ['2026-01-31T23:30:00-01:00', instant('2026-02-01T00:30:00Z')],
    ['2026-01-01T00:30:00+01:00', instant('2025-12-31T23:30:00Z')],
    ['2026-01-31T12:00:05,25Z', instant('2026-01-31T12:00:05.250Z')],
    ['2026-01-31T12:00:05.123456Z', instant('2026-01-31T12:00:05.123Z', 456)],
    ['2026-01-31T12:00:05.123456789Z', instant('2026-01-31T12:00:05.123Z', 456, '789')],
    ['2026-01-31T12:00:05.1234560700Z', instant('2026-01-31T12:00:05.123Z', 456, '07')],
    ['2026-01-31T12:00:05.123456000Z', instant('2026-01-31T12:00:05.123Z', 456)],
    ['2026-01-31T12:00:05.000001Z', instant('2026-01-31T12:00:05.000Z', 1)],
    ['2026-12-31T23:59:60Z', instant('2027-01-01T00:00:00Z')],
    ['0000-01-01T00:00:00Z', instant('0000-01-01T00:00:00Z')],
    ['9999-12-31T23:59:59.999999Z', instant('9999-12-31T23:59:59.999Z', 999)],
  ])('reads %s', (text, expected) => {
    expect(parseInstant(text)).toEqual(expected);
  });

  it.each(['', '456'])(
    'agrees with Date.parse on what both read, with "%s" beyond the millisecond',
    (beyond) => {
      fc.assert(
        fc.property(
          fc.date({
            min: new Date('0000-01-02'),
            max: new Date('9999-12-30'),
            noInvalidDate: true,
          }),
          fc.integer({ min: -14 * 60, max: 14 * 60 }),
          (date, offset) => {
            const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
            const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
            const minutes = Math.abs(offset);
            const zone = `${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
            expect(parseInstant(local + beyond + zone)).toEqual({
              occurredAt: new Date(local + zone),
              microseconds: Number(beyond),
              finer: '',
            });
          },
        ),
      );
    },
  );

  it('reads a fraction of a million digits, in one pass', () => {
    const zeros = '0'.repeat(1_000_000);
    const finer = `${zeros}1`;
    const at = (fraction: string) => `2026-01-31T12:00:05.000000${fraction}Z`;
    expect(parseInstant(at(finer)).finer).toBe(finer);
    expect(parseInstant(at(`${finer}${zeros}`)).finer).toBe(finer);
  });
});
