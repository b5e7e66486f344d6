import { assertInsideWindow, type TimestampUnit } from '../../callback/timestamp.js';
import { CallbackVerificationError } from '../../errors.js';
import type { CapturedHeader } from './captured-headers.js';
import type { CallbackDiagnosis, CallbackFinding } from './diagnosis.js';
import { readInstant } from './timestamp-text.js';

export const repeatedFinding: CallbackFinding = Object.freeze({
  code: 'timestamp-repeated',
  message: 'X-Timestamp came more than once.',
  remedy: 'Send it once: see which proxy or middleware adds the second.',
});

/** Known only from the signature: the header alone may look right. */
export const respelledFinding: CallbackFinding = Object.freeze({
  code: 'timestamp-respelled',
  message:
    'The text of X-Timestamp is not the one that was signed: signed was the same time written in another way.',
  remedy: 'Let X-Timestamp hold the very text that was signed.',
});

const SEE_THE_HEADERS =
  'Pass all headers as received: a proxy, or what captured them, dropped or renamed X-Timestamp.';

function missingFinding(similarHeaders: readonly string[]): CallbackFinding {
  return Object.freeze({
    code: 'timestamp-missing',
    message:
      similarHeaders.length === 0
        ? 'X-Timestamp is missing.'
        : `X-Timestamp is missing; of a similar name came ${similarHeaders.join(', ')}.`,
    remedy: SEE_THE_HEADERS,
    similarHeaders: Object.freeze(similarHeaders),
  });
}

export function missingButFound(header: string): CallbackFinding {
  return Object.freeze({
    code: 'timestamp-missing',
    message: `X-Timestamp is missing; the header ${header} holds the timestamp that was signed.`,
    remedy: `Pass the value of ${header} as x-timestamp.`,
    similarHeaders: Object.freeze([header]),
  });
}

/** What X-Timestamp is held against. */
interface Clock {
  readonly unit: TimestampUnit;
  readonly nowMs: number;
  readonly toleranceSeconds: number;
  readonly signature: CallbackDiagnosis['signature'];
}

/** What is wrong with X-Timestamp in itself: absence, form, unit, and its distance from the clock. */
export function findTimestampFaults(
  { values, isRepeated, similar }: CapturedHeader,
  clock: Clock,
): readonly CallbackFinding[] {
  const [text] = values;
  if (text === undefined) return [missingFinding(similar.map(({ name }) => name))];
  if (isRepeated || isJoined(text)) return [repeatedFinding];
  const instant = readInstant(text);
  const beyond = describeSignature(clock.signature);
  if (instant === undefined) {
    return [
      {
        code: 'timestamp-malformed',
        message: `X-Timestamp is no Unix timestamp: it has ${text.length} characters and is not digits only. ${beyond}`,
        remedy: 'Let X-Timestamp hold Unix seconds, digits only.',
      },
    ];
  }
  const faults: CallbackFinding[] = [];
  if (instant.writtenAs === 'iso-date') {
    faults.push({
      code: 'timestamp-iso-date',
      message: `X-Timestamp is an ISO 8601 date, not a Unix timestamp. ${beyond}`,
      remedy: 'In the sender send and sign Unix seconds: Math.floor(date.getTime() / 1000).',
    });
  } else if (instant.writtenAs !== clock.unit) {
    faults.push({
      code: 'timestamp-unit',
      message: `X-Timestamp is in ${instant.writtenAs}, but ${clock.unit} are expected. ${beyond}`,
      remedy: `If the service sends ${instant.writtenAs}, set timestampUnit: '${instant.writtenAs}'.`,
    });
  }
  return [...faults, ...findSkew(instant.epochMs, clock, beyond)];
}

function isJoined(text: string): boolean {
  const parts = text.split(',');
  return parts.length > 1 && parts.every((part) => readInstant(part.trim()) !== undefined);
}

function describeSignature(signature: Clock['signature']): string {
  if (signature === 'right') return 'The signature is right apart from that.';
  if (signature === 'explained') {
    return 'The signature is right apart from that and the other findings.';
  }
  if (signature === 'missing') return 'There is no signature to check it against.';
  return 'The signature does not match either.';
}

function findSkew(sentAtMs: number, clock: Clock, beyond: string): readonly CallbackFinding[] {
  try {
    assertInsideWindow(sentAtMs, clock.nowMs, clock.toleranceSeconds);
    return [];
  } catch (error) {
    const skewSeconds = error instanceof CallbackVerificationError ? error.skewSeconds : undefined;
    return [describeSkew(skewSeconds ?? Number.NaN, clock.toleranceSeconds, beyond)];
  }
}

function describeSkew(
  skewSeconds: number,
  toleranceSeconds: number,
  beyond: string,
): CallbackFinding {
  if (!Number.isFinite(skewSeconds)) {
    return {
      code: 'timestamp-outside-window',
      message: `The clock gave no number, so X-Timestamp can not be held against it. ${beyond}`,
      remedy: 'Let the option now return epoch milliseconds.',
    };
  }
  const allowed = `more than the ${toleranceSeconds} s allowed`;
  if (skewSeconds < 0) {
    return {
      code: 'timestamp-outside-window',
      message: `X-Timestamp lies ${-skewSeconds} s ahead of the clock, ${allowed}: one of the two clocks is off. ${beyond}`,
      remedy: "Compare this machine's clock with a time server (timedatectl, w32tm).",
      skewSeconds,
    };
  }
  return {
    code: 'timestamp-outside-window',
    message: `X-Timestamp lies ${skewSeconds} s behind the clock, ${allowed}: the callback was captured earlier, came late or was replayed, or this machine's clock is ahead. ${beyond}`,
    remedy: 'For a captured callback let now return the time it came at.',
    skewSeconds,
  };
}
