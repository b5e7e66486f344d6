import { CallbackVerificationError } from '../errors.js';
import { SECONDS_END } from '../protocol/instant.js';
import type { TimestampUnit } from '../protocol/wire.js';
import type { ResolvedPolicy } from './options.js';

// Enough for any instant, and few enough to be exact as a number.
const DIGITS = /^\d{1,15}$/;

/**
 * Parses X-Timestamp (interface section 5.2) into epoch milliseconds. Accepts digits only: the header's own
 * text was signed, so nothing is trimmed or repaired.
 *
 * @throws {CallbackVerificationError} `INVALID_TIMESTAMP`
 */
export function parseTimestamp(text: string, unit: TimestampUnit): number {
  if (!DIGITS.test(text)) {
    throw new CallbackVerificationError(
      'INVALID_TIMESTAMP',
      `X-Timestamp must be a Unix timestamp in ${unit}, digits only; received ${text.length} characters`,
    );
  }
  const value = Number(text);
  if (unit === 'milliseconds') {
    if (value < SECONDS_END) throw otherUnit(unit, 'seconds');
    return value;
  }
  if (value >= SECONDS_END) throw otherUnit(unit, 'milliseconds');
  return value * 1000;
}

function otherUnit(unit: TimestampUnit, looksLike: TimestampUnit): CallbackVerificationError {
  return new CallbackVerificationError(
    'INVALID_TIMESTAMP',
    `X-Timestamp must be a Unix timestamp in ${unit}; the value looks like ${looksLike}: if the service sends ${looksLike}, set timestampUnit: '${looksLike}'`,
  );
}

/**
 * Checks that a callback is neither too old nor from the future (interface section 5.2, point 4). Both times
 * are truncated to whole seconds, the header's resolution, and the limit is inclusive.
 *
 * @throws {CallbackVerificationError} `TIMESTAMP_OUTSIDE_WINDOW`
 */
export function assertInsideWindow(
  sentAtMs: number,
  {
    now,
    receivedAt,
    toleranceSeconds,
  }: Pick<ResolvedPolicy, 'now' | 'receivedAt' | 'toleranceSeconds'>,
): void {
  const nowMs = receivedAt?.getTime() ?? now();
  const skewSeconds = Math.floor(nowMs / 1000) - Math.floor(sentAtMs / 1000);
  // Written so that a clock that returns NaN leads to a refusal.
  if (Math.abs(skewSeconds) <= toleranceSeconds) return;
  const clock = receivedAt === undefined ? "this machine's clock" : 'receivedAt';
  throw new CallbackVerificationError(
    'TIMESTAMP_OUTSIDE_WINDOW',
    `X-Timestamp is ${describeSkew(skewSeconds)} ${clock}, more than the ${toleranceSeconds} s allowed; the callback was replayed or delayed, or a clock is wrong`,
    { skewSeconds },
  );
}

function describeSkew(skewSeconds: number): string {
  const direction = skewSeconds < 0 ? 'ahead of' : 'behind';
  return `${Math.abs(skewSeconds)} s ${direction}`;
}
