import { describe, expect, it } from 'vitest';
import {
  NOW_SECONDS,
  optionErrorOf,
  refusalOf,
  SECRET,
  sampleRequest,
  sign,
} from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

// Seconds by which X-Timestamp is behind the clock; negative: from the future.
const inside = [0, 299, 300, -299, -300];
const outside = [301, -301, 86_400, NOW_SECONDS];

/** Handled a day later than the time at which the timestamp was `skew` seconds old. */
function receivedEarlier(skew: number) {
  const receivedAt = new Date((NOW_SECONDS - 86_400) * 1000);
  const timestamp = String(NOW_SECONDS - 86_400 - skew);
  return { options: { receivedAt }, request: sampleRequest({ timestamp }) };
}

export function describeTimestamps(implementation: Implementation): void {
  const { createCallbackVerifier } = implementation;
  const verify = sampleVerifier(implementation);

  describe('the window of X-Timestamp', () => {
    it.each(inside)('accepts a timestamp %i s old', async (skew) => {
      const timestamp = String(NOW_SECONDS - skew);
      const verified = await verify(sampleRequest({ timestamp }));
      expect(verified.timestamp).toEqual(new Date((NOW_SECONDS - skew) * 1000));
    });

    it.each(outside.slice(0, -1))(
      'refuses one %i s old when another system received it',
      async (skew) => {
        const { options, request } = receivedEarlier(skew);
        const error = await refusalOf(() => verify(request, options));
        expect(error).toMatchObject({ code: 'TIMESTAMP_OUTSIDE_WINDOW', skewSeconds: skew });
        expect(error.message).toContain(
          skew > 0 ? `${skew} s behind receivedAt` : 'ahead of receivedAt',
        );
      },
    );

    it('refuses text as the time when it was received', async () => {
      const options = { receivedAt: '2026-01-31T12:00:05Z' };
      const error = await optionErrorOf(() => verify(sampleRequest(), options));
      expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'receivedAt' });
    });

    it('refuses that time for a verifier of many callbacks', async () => {
      const options = { signingSecret: SECRET, receivedAt: new Date(0) };
      const error = await optionErrorOf(() => createCallbackVerifier(options));
      expect(error.message).toBe('receivedAt belongs to one callback; pass it to verifyCallback');
    });

    it.each(outside)('refuses a timestamp %i s old and says so', async (skew) => {
      const timestamp = String(NOW_SECONDS - skew);
      const error = await refusalOf(() => verify(sampleRequest({ timestamp })));
      expect(error).toMatchObject({ code: 'TIMESTAMP_OUTSIDE_WINDOW', skewSeconds: skew });
      expect(error.message).toContain(
        skew > 0
          ? `X-Timestamp is ${skew} s behind this machine's clock`
          : `X-Timestamp is ${-skew} s ahead of this machine's clock`,
      );
      expect(error.message).toContain('more than the 300 s allowed');
    });

    it.each([
      { tolerance: 0, accepted: [0], refused: [1, -1] },
      { tolerance: 3600, accepted: [3600, -3600], refused: [3601, -3601] },
    ])('keeps to a tolerance of $tolerance s', async ({ tolerance, accepted, refused }) => {
      const options = { toleranceSeconds: tolerance };
      const at = (skew: number) => sampleRequest({ timestamp: String(NOW_SECONDS - skew) });
      for (const skew of accepted) await verify(at(skew), options);
      for (const skew of refused) {
        const error = await refusalOf(() => verify(at(skew), options));
        expect(error).toMatchObject({ code: 'TIMESTAMP_OUTSIDE_WINDOW', skewSeconds: skew });
      }
    });

    it('counts the clock in whole seconds, the resolution of the header', async () => {
      const options = { toleranceSeconds: 0 };
      const at = (ms: number) => ({ ...options, now: () => NOW_SECONDS * 1000 + ms });
      await verify(sampleRequest(), at(999));
      await refusalOf(() => verify(sampleRequest(), at(1000)));
      await refusalOf(() => verify(sampleRequest(), at(-1)));
    });

    it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
      'refuses everything by a clock that answers %d',
      async (broken) => {
        const error = await refusalOf(() => verify(sampleRequest(), { now: () => broken }));
        expect(error.code).toBe('TIMESTAMP_OUTSIDE_WINDOW');
        expect(Number.isFinite(error.skewSeconds)).toBe(false);
      },
    );
  });

  describe('the text of X-Timestamp', () => {
    it.each([
      ['a sign', `+${NOW_SECONDS}`],
      ['a line feed after', `${NOW_SECONDS}\n`],
      ['16 digits', `000000${NOW_SECONDS}`],
      ['Arabic digits', '١٧٦٩٨٦٠٨٠٥'],
      ['the character before 0', '176986080/'],
      ['the character after 9', '176986080:'],
    ])('refuses %s', async (_what, timestamp) => {
      const error = await refusalOf(() => verify(sampleRequest({ timestamp })));
      expect(error.code).toBe('INVALID_TIMESTAMP');
      expect(error.message).toBe(
        `X-Timestamp must be a Unix timestamp in seconds, digits only; received ${timestamp.length} characters`,
      );
    });

    it('signs leading zeros as they stand', async () => {
      const padded = `00000${NOW_SECONDS}`;
      const verified = await verify(sampleRequest({ timestamp: padded }));
      expect(verified.timestamp).toEqual(new Date(NOW_SECONDS * 1000));

      const request = sampleRequest({ timestamp: padded });
      request.headers['x-signature'] = sign(request.rawBody);
      expect((await refusalOf(() => verify(request))).code).toBe('SIGNATURE_MISMATCH');
    });

    it('answers milliseconds in seconds mode with the option to set', async () => {
      for (const timestamp of [`${NOW_SECONDS}000`, '100000000000']) {
        const error = await refusalOf(() => verify(sampleRequest({ timestamp })));
        expect(error.code).toBe('INVALID_TIMESTAMP');
        expect(error.message).toContain('looks like milliseconds');
        expect(error.message).toContain("timestampUnit: 'milliseconds'");
      }
      const error = await refusalOf(() => verify(sampleRequest({ timestamp: '99999999999' })));
      expect(error.code).toBe('TIMESTAMP_OUTSIDE_WINDOW');
    });
  });

  describe("timestampUnit: 'milliseconds'", () => {
    const options = { timestampUnit: 'milliseconds' };
    const inMs = (ms: number) => sampleRequest({ timestamp: String(NOW_SECONDS * 1000 + ms) });

    it.each([0, 999, -1, -300_000, 300_999])('accepts a value %i ms from now', async (ms) => {
      const { timestamp } = await verify(inMs(ms), options);
      expect(timestamp).toEqual(new Date(NOW_SECONDS * 1000 + ms));
    });

    it.each([
      { ms: -300_001, skewSeconds: 301 },
      { ms: 301_000, skewSeconds: -301 },
    ])('refuses a value $ms ms from now', async ({ ms, skewSeconds }) => {
      const error = await refusalOf(() => verify(inMs(ms), options));
      expect(error).toMatchObject({ code: 'TIMESTAMP_OUTSIDE_WINDOW', skewSeconds });
    });

    it('answers seconds with the option to set', async () => {
      for (const timestamp of [String(NOW_SECONDS), '99999999999']) {
        const error = await refusalOf(() => verify(sampleRequest({ timestamp }), options));
        expect(error.code).toBe('INVALID_TIMESTAMP');
        expect(error.message).toContain(
          "looks like seconds: if the service sends seconds, set timestampUnit: 'seconds'",
        );
      }
      const timestamp = '100000000000';
      const error = await refusalOf(() => verify(sampleRequest({ timestamp }), options));
      expect(error.code).toBe('TIMESTAMP_OUTSIDE_WINDOW');
    });
  });
}
