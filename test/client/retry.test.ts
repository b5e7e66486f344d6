import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideRetry,
  type FailedAttempt,
  parseRetryAfter,
  type RetrySituation,
} from '../../src/client/retry.js';
import type { RequestOutcome } from '../../src/errors.js';

const outcomes: readonly RequestOutcome[] = ['not-sent', 'rejected', 'unknown', 'accepted'];
const failed = (fields: Partial<FailedAttempt>): FailedAttempt => ({
  outcome: 'not-sent',
  safe: false,
  httpStatus: undefined,
  gaveUp: false,
  retryAfterSeconds: undefined,
  ...fields,
});
const situation = (fields: Partial<RetrySituation> = {}): RetrySituation => ({
  attempt: 1,
  maxRetries: 2,
  mayRepeat: false,
  remainingMs: 30_000,
  random: 0.5,
  ...fields,
});

describe('decideRetry', () => {
  const unknown = { safe: true, outcome: 'unknown' } as const;
  const unusable = { safe: true, outcome: 'accepted', httpStatus: 200, bodyLost: false } as const;
  it.each<[string, Partial<FailedAttempt>, Partial<RetrySituation>]>([
    ['the first redirect', { ...unknown, httpStatus: 300 }, {}],
    ['the last redirect', { ...unknown, httpStatus: 399 }, {}],
    ['a 2xx whose body is unusable', unusable, {}],
    ['a request that was cancelled', { ...unknown, gaveUp: true }, {}],
    ['a call without time', {}, { remainingMs: 0, random: 0 }],
  ])('does not repeat %s, also of a safe method', (_what, attempt, given) => {
    expect(decideRetry(failed(attempt), situation(given))).toBeUndefined();
  });

  it.each([
    [1, 0, 0],
    [1, 0.5, 125],
    [2, 0.5, 250],
    [3, 0.5, 500],
    [6, 0.5, 4000],
    [7, 0.5, 4000],
    [2000, 0.5, 4000],
  ])('waits after attempt %i, with the die at %d, for %d ms', (attempt, random, delayMs) => {
    const given = situation({ attempt, random, maxRetries: attempt });
    expect(decideRetry(failed({}), given)).toBe(delayMs);
  });

  it.each([
    [3, 30_000, 3000],
    [4.35, 30_000, 4350],
    [0.5001, 30_000, 501],
    [0, 30_000, 125],
    [29, 30_000, 29_000],
    [30, 30_000, undefined],
    [31, 30_000, undefined],
    [Number.MAX_SAFE_INTEGER, 30_000, undefined],
  ])(
    'after a Retry-After of %d s with %d ms left waits for %s ms',
    (retryAfterSeconds, remainingMs, delayMs) => {
      const attempt = failed({ outcome: 'rejected', httpStatus: 429, retryAfterSeconds });
      expect(decideRetry(attempt, situation({ remainingMs }))).toBe(delayMs);
    },
  );

  it('never waits past the deadline, nor shorter than the service asked, nor longer than the bound', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...outcomes),
        fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        fc.integer({ min: -1000, max: 60_000 }),
        (outcome, retryAfterSeconds, attempt, random, remainingMs) => {
          const delayMs = decideRetry(
            failed({ outcome, retryAfterSeconds }),
            situation({ attempt, maxRetries: 50, random, remainingMs, mayRepeat: true }),
          );
          if (delayMs === undefined) return;
          const askedMs = (retryAfterSeconds ?? 0) * 1000;
          expect(delayMs).toBeLessThan(remainingMs);
          expect(delayMs).toBeGreaterThanOrEqual(askedMs);
          expect(delayMs).toBeLessThanOrEqual(
            Math.max(askedMs, Math.min(8000, 250 * 2 ** (attempt - 1))),
          );
        },
      ),
    );
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-31T12:00:00.500Z');

  it.each<[string | string[] | undefined, number | undefined]>([
    ['0', 0],
    ['120', 120],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Sat, 31 Jan 2026 12:00:30 GMT', 30],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['1.5', 1.5],
    ['0.0004', 0.001],
    ['4.35', 4.35],
    ['.5', 0.5],
    ['-1', 0],
    ['.', undefined],
    ['1.5s', undefined],
    ['Infinity', undefined],
    ['1e3', undefined],
    ['', undefined],
    ['soon', undefined],
    ['2026-01-31T12:00:30Z', undefined],
    ['Saturday, 31-Jan-26 12:00:30 GMT', 30],
    ['Sun Feb  1 12:00:00 2026', 86_400],
    ['Sat, 31 Jan 2026 13:00:30 +0100', 30],
    [['7'], 7],
    [['7', '30'], undefined],
    [undefined, undefined],
  ])('reads %j as %s', (value, expected) => {
    expect(parseRetryAfter({ 'retry-after': value }, now)).toBe(expected);
    // What is no date is not affected by the clock that dates are measured from.
    const date = 'Sat, 31 Jan 2026 12:00:00 GMT';
    expect(parseRetryAfter({ 'retry-after': value, date }, now)).toBe(expected);
  });

  const at = 'Sat, 31 Jan 2026 12:00:30 GMT';
  it.each<[string, string | string[] | undefined, string | string[], number | undefined]>([
    ['ten minutes ahead of us', 'Sat, 31 Jan 2026 12:10:00 GMT', at.replace('12:00', '12:10'), 30],
    ['ten minutes behind us', 'Sat, 31 Jan 2026 11:50:00 GMT', at.replace('12:00', '11:50'), 30],
    ['the moment asked for', at, at, 0],
    ['absent', undefined, at, 30],
    ['no date', 'yesterday', at, 30],
    ['twice there', ['Sat, 31 Jan 2026 12:00:20 GMT', 'Sat, 31 Jan 2026 12:00:10 GMT'], at, 30],
    ['of no use to seconds', 'Sat, 31 Jan 2026 12:00:20 GMT', '1.5', 1.5],
  ])('measures a date from the Date of the answer: %s', (_what, date, retryAfter, expected) => {
    expect(parseRetryAfter({ 'retry-after': retryAfter, date }, now)).toBe(expected);
  });
});
