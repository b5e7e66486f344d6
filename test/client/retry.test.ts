import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  combineOutcomes,
  decideRetry,
  type FailedAttempt,
  isSafeToRetry,
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
  it.each<[string, Partial<FailedAttempt>, Partial<RetrySituation>, boolean]>([
    ['what was not sent', { outcome: 'not-sent' }, {}, true],
    ['a 429', { outcome: 'rejected', httpStatus: 429 }, {}, true],
    ['a redirect', { outcome: 'unknown', httpStatus: 302 }, { mayRepeat: true }, false],
    ['a 400', { outcome: 'rejected', httpStatus: 400 }, { mayRepeat: true }, false],
    ['a 401', { outcome: 'rejected', httpStatus: 401 }, { mayRepeat: true }, false],
    ['a 409', { outcome: 'rejected', httpStatus: 409 }, { mayRepeat: true }, false],
    ['a 408', { outcome: 'unknown', httpStatus: 408 }, {}, false],
    ['a 408, if asked to', { outcome: 'unknown', httpStatus: 408 }, { mayRepeat: true }, true],
    ['a 499', { outcome: 'unknown', httpStatus: 499 }, {}, false],
    ['a reset of a safe method', { safe: true, outcome: 'unknown' }, {}, true],
    ['a 408 to a safe method', { safe: true, outcome: 'unknown', httpStatus: 408 }, {}, true],
    ['a 503 to a safe method', { safe: true, outcome: 'unknown', httpStatus: 503 }, {}, true],
    ['a redirect of a safe method', { safe: true, outcome: 'unknown', httpStatus: 303 }, {}, false],
    ['a 404 to a safe method', { safe: true, outcome: 'rejected', httpStatus: 404 }, {}, false],
    [
      'a 2xx to a safe method whose body was lost',
      { safe: true, outcome: 'accepted', httpStatus: 200, bodyLost: true },
      {},
      true,
    ],
    [
      'a 2xx to a safe method whose body is unusable',
      { safe: true, outcome: 'accepted', httpStatus: 200, bodyLost: false },
      {},
      false,
    ],
    [
      'a safe method with maxRetries 0',
      { safe: true, outcome: 'unknown' },
      { maxRetries: 0 },
      false,
    ],
    [
      'a safe method that was cancelled',
      { safe: true, outcome: 'unknown', gaveUp: true },
      {},
      false,
    ],
    ['a reset', { outcome: 'unknown' }, {}, false],
    ['a 500', { outcome: 'unknown', httpStatus: 500 }, {}, false],
    ['a 503', { outcome: 'unknown', httpStatus: 503 }, {}, false],
    ['a reset, if asked to', { outcome: 'unknown' }, { mayRepeat: true }, true],
    ['a 500, if asked to', { outcome: 'unknown', httpStatus: 500 }, { mayRepeat: true }, true],
    [
      'a 2xx whose body was lost',
      { outcome: 'accepted', httpStatus: 201, bodyLost: true },
      { mayRepeat: true },
      false,
    ],
    ['the second of two retries', { outcome: 'not-sent' }, { attempt: 2 }, true],
    ['a third of two retries', { outcome: 'not-sent' }, { attempt: 3 }, false],
    ['anything with maxRetries 0', { outcome: 'not-sent' }, { maxRetries: 0 }, false],
    ['a call that was cancelled', { gaveUp: true }, { mayRepeat: true }, false],
    ['a call without time', {}, { remainingMs: 0, random: 0 }, false],
  ])('for %s', (_what, attempt, given, retries) => {
    expect(decideRetry(failed(attempt), situation(given)) !== undefined).toBe(retries);
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

  it('never sends again what may have been processed, unless asked to', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<RequestOutcome>('unknown', 'accepted'),
        fc.option(
          fc.integer({ min: 200, max: 599 }).filter((status) => status !== 429),
          { nil: undefined },
        ),
        fc.integer({ min: 1, max: 10 }),
        (outcome, httpStatus, attempt) => {
          const given = situation({ attempt, maxRetries: 10 });
          expect(decideRetry(failed({ outcome, httpStatus }), given)).toBeUndefined();
        },
      ),
    );
  });
});

describe('isSafeToRetry', () => {
  const lost = { outcome: 'accepted', httpStatus: 200, bodyLost: true } as const;
  it.each<[string, Partial<FailedAttempt>, RequestOutcome, boolean, boolean]>([
    ['no connection', { outcome: 'not-sent' }, 'not-sent', true, true],
    ['no connection after a 429', { outcome: 'not-sent' }, 'rejected', true, true],
    ['no connection after a reset', { outcome: 'not-sent' }, 'unknown', false, true],
    ['a 429', { outcome: 'rejected', httpStatus: 429 }, 'rejected', true, true],
    ['a 429 after a reset', { outcome: 'rejected', httpStatus: 429 }, 'unknown', false, true],
    ['a 400', { outcome: 'rejected', httpStatus: 400 }, 'rejected', false, false],
    ['a 400 after a 503', { outcome: 'rejected', httpStatus: 400 }, 'unknown', false, false],
    ['a 401', { outcome: 'rejected', httpStatus: 401 }, 'rejected', false, false],
    ['a 409', { outcome: 'rejected', httpStatus: 409 }, 'rejected', false, false],
    ['a reset', { outcome: 'unknown' }, 'unknown', false, true],
    ['a 408', { outcome: 'unknown', httpStatus: 408 }, 'unknown', false, true],
    ['a 503', { outcome: 'unknown', httpStatus: 503 }, 'unknown', false, true],
    ['a 299 whose body was lost', { ...lost, httpStatus: 299 }, 'accepted', false, true],
    ['a redirect', { outcome: 'unknown', httpStatus: 300 }, 'unknown', false, false],
    ['the last redirect', { outcome: 'unknown', httpStatus: 399 }, 'unknown', false, false],
    ['a 2xx with an unusable body', { ...lost, bodyLost: false }, 'accepted', false, false],
  ])('after %s', (_what, attempt, known, unsafeMethod, safeMethod) => {
    expect(isSafeToRetry(failed({ ...attempt, safe: false }), known)).toBe(unsafeMethod);
    expect(isSafeToRetry(failed({ ...attempt, safe: true }), known)).toBe(safeMethod);
  });
});

describe('combineOutcomes', () => {
  it.each<[RequestOutcome, RequestOutcome, RequestOutcome]>([
    ['not-sent', 'not-sent', 'not-sent'],
    ['not-sent', 'rejected', 'rejected'],
    ['not-sent', 'unknown', 'unknown'],
    ['not-sent', 'accepted', 'accepted'],
    ['rejected', 'not-sent', 'rejected'],
    ['rejected', 'rejected', 'rejected'],
    ['rejected', 'unknown', 'unknown'],
    ['rejected', 'accepted', 'accepted'],
    ['unknown', 'not-sent', 'unknown'],
    ['unknown', 'rejected', 'unknown'],
    ['unknown', 'unknown', 'unknown'],
    ['unknown', 'accepted', 'accepted'],
  ])('%s, then %s, is %s', (earlier, latest, expected) => {
    expect(combineOutcomes(earlier, latest)).toBe(expected);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-31T12:00:00.500Z');

  it.each<[string | string[] | undefined, number | undefined]>([
    ['0', 0],
    ['120', 120],
    [' 7 ', 7],
    ['1769860800', 1_769_860_800],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Sat, 31 Jan 2026 12:00:30 GMT', 30],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['1.5', 1.5],
    ['0.0004', 0.001],
    ['1.0001', 1.001],
    ['1.001', 1.001],
    ['4.35', 4.35],
    ['.5', 0.5],
    ['2.', 2],
    [' 1.25 ', 1.25],
    [`1.${'0'.repeat(400)}`, 1],
    ['-1', 0],
    ['-1.5', 0],
    ['-0', 0],
    ['.', undefined],
    ['-', undefined],
    ['1.5.2', undefined],
    ['1.5s', undefined],
    ['+1', undefined],
    ['Infinity', undefined],
    ['NaN', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['', undefined],
    ['soon', undefined],
    ['Someday, maybe', undefined],
    ['2026-01-31T12:00:30Z', undefined],
    ['31 Jan 2026 12:00:30 GMT', undefined],
    ['Sa, 31 Jan 2026 12:00:30 GMT', undefined],
    ['Saturday, 31-Jan-26 12:00:30 GMT', 30],
    ['Sat Jan 31 12:00:30 2026', 30],
    ['Sun Feb  1 12:00:00 2026', 86_400],
    ['Sat, 31 Jan 2026 13:00:30 +0100', 30],
    [['7'], 7],
    [['7', '30'], undefined],
    ['7, 30', undefined],
    ['1,5', undefined],
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
    ['a year behind us', 'Fri, 31 Jan 2025 12:00:00 GMT', 'Fri, 31 Jan 2025 12:00:05 GMT', 5],
    ['the spelling of RFC 850', 'Saturday, 31-Jan-26 12:00:10 GMT', at, 20],
    ['the moment asked for', at, at, 0],
    ['past the moment asked for', 'Sat, 31 Jan 2026 12:05:00 GMT', at, 0],
    ['absent', undefined, at, 30],
    ['empty', '', at, 30],
    ['no date', 'yesterday', at, 30],
    ['a number', '1769860800', at, 30],
    ['an ISO date', '2026-01-31T12:00:10Z', at, 30],
    ['a day without a time', 'Saturday', at, 30],
    ['twice there', ['Sat, 31 Jan 2026 12:00:20 GMT', 'Sat, 31 Jan 2026 12:00:10 GMT'], at, 30],
    ['of no use to seconds', 'Sat, 31 Jan 2026 12:00:20 GMT', '1.5', 1.5],
    ['of no use to garbage', 'Sat, 31 Jan 2026 12:00:20 GMT', 'soon', undefined],
  ])('measures a date from the Date of the answer: %s', (_what, date, retryAfter, expected) => {
    expect(parseRetryAfter({ 'retry-after': retryAfter, date }, now)).toBe(expected);
  });

  it('reads any text as seconds that are not negative, or as nothing', () => {
    const texts = fc.oneof(fc.string(), fc.double().map(String));
    fc.assert(
      fc.property(texts, texts, (text, date) => {
        const seconds = parseRetryAfter({ 'retry-after': text, date }, now) ?? 0;
        expect(seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER).toBe(true);
      }),
    );
  });

  it('never asks for less than a number of seconds says', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(999_999), (whole, fraction) => {
        const text = `${whole}.${String(fraction).padStart(6, '0')}`;
        const retryAfterSeconds = parseRetryAfter({ 'retry-after': text }, now) ?? 0;
        expect(retryAfterSeconds).toBeGreaterThanOrEqual(Number(text));
        const delayMs = decideRetry(
          failed({ outcome: 'rejected', httpStatus: 429, retryAfterSeconds }),
          situation({ random: 0, remainingMs: 1e12 }),
        );
        expect(Number.isSafeInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(Number(text) * 1000);
        expect(delayMs).toBeLessThanOrEqual(Number(text) * 1000 + 2);
      }),
    );
  });
});
