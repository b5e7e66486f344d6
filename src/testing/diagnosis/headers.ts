import { assertInsideWindow, parseSignature, parseTimestamp } from '../../callback/checks.js';
import { type CallbackHeaders, readSigningHeaders } from '../../callback/headers.js';
import type { ResolvedPolicy } from '../../callback/options.js';
import { type CallbackVerificationError, InvalidOptionError } from '../../errors.js';
import { fieldOf } from '../../protocol/own-fields.js';
import { SIGNATURE_HEADER, type SignatureEncoding, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import type { CallbackFinding } from './diagnosis.js';

export interface CapturedHeader {
  /** The text to check the signature with; if the header is missing, the text of a similar one. */
  readonly text: string | undefined;
  /** The header is missing, was sent more than once, or is not text. */
  readonly faults: readonly CallbackFinding[];
}

type Part = 'timestamp' | 'signature';

const NAMES = { timestamp: TIMESTAMP_HEADER, signature: SIGNATURE_HEADER } as const;
const TITLES = { timestamp: 'X-Timestamp', signature: 'X-Signature' } as const;

/** @throws {InvalidOptionError} when `headers` is not a collection of headers */
export function captureHeaders(headers: CallbackHeaders): Record<Part, CapturedHeader> {
  try {
    readSigningHeaders(headers);
  } catch (error) {
    if (error instanceof InvalidOptionError) throw error;
  }
  const all = listHeaders(headers);
  return {
    timestamp: captureHeader(all, 'timestamp'),
    signature: captureHeader(all, 'signature'),
  };
}

type NamedValue = readonly [name: string, value: unknown];

function listHeaders(headers: CallbackHeaders): readonly NamedValue[] {
  if (fieldOf(headers, Symbol.iterator) !== undefined) {
    return [...(headers as Iterable<NamedValue>)];
  }
  const get = fieldOf(headers, 'get');
  // A Headers-like object that cannot be listed.
  if (typeof get === 'function') {
    return Object.values(NAMES).map((name) => [name, get.call(headers, name)]);
  }
  return Object.entries(headers);
}

function captureHeader(all: readonly NamedValue[], part: Part): CapturedHeader {
  const values = all
    .filter(([name]) => name.toLowerCase() === NAMES[part])
    .flatMap(([, value]): readonly unknown[] => (Array.isArray(value) ? value : [value]))
    .filter((value) => value !== undefined && value !== null)
    // Node and Fetch join the values of a header that was sent twice with a comma.
    .flatMap((value) => (isText(value) ? value.split(/, */) : [value]));
  const text = values.find(isText);
  if (values.length > 1) {
    const repeated: CallbackFinding = {
      code: `${part}-malformed`,
      message: `${TITLES[part]} has more than one value.`,
      remedy: 'Send it once: find the proxy or middleware that adds the second.',
    };
    return { text, faults: [repeated] };
  }
  return text === undefined ? findSimilar(all, part) : { text, faults: [] };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const MAX_SIMILAR = 5;
// Longer or invalid names are not repeated in a message.
const HEADER_NAME = /^[\w-]{1,64}$/;

/** CGI and PHP, for example, rename X-Signature to HTTP_X_SIGNATURE. */
function findSimilar(all: readonly NamedValue[], part: Part): CapturedHeader {
  const similar = all
    .filter(([name]) => HEADER_NAME.test(name) && name.toLowerCase().includes(part))
    .filter((header): header is readonly [string, string] => isText(header[1]))
    .slice(0, MAX_SIMILAR);
  const names = similar.map(([name]) => name);
  const title = TITLES[part];
  const received = names.length === 0 ? '' : ` Received with a similar name: ${names.join(', ')}.`;
  const missing: CallbackFinding = {
    code: `${part}-missing`,
    message: `${title} is missing.${received}`,
    remedy:
      names.length === 0
        ? `Pass all headers as received: a proxy or the capture dropped or renamed ${title}.`
        : `Pass the value of ${names[0]} as ${NAMES[part]}.`,
    similarHeaders: Object.freeze(names),
  };
  return { text: similar[0]?.[1], faults: [missing] };
}

export interface ReadSignature {
  /** Absent when X-Signature is missing, or not a SHA-256 digest in any encoding. */
  readonly digest?: Buffer;
  readonly findings: readonly CallbackFinding[];
}

/** Reads X-Signature, without checking what was signed. */
export function readSignature(
  { text, faults }: CapturedHeader,
  allowed: SignatureEncoding | 'auto',
): ReadSignature {
  if (text === undefined) return { findings: faults };
  const encoding = (['hex', 'base64', 'base64url'] as const).find((one) => isDigest(text, one));
  if (encoding === undefined) return { findings: [...faults, malformedSignature(text)] };
  const digest = Buffer.from(text, encoding);
  if (isDigest(text, allowed)) return { digest, findings: faults };
  const otherEncoding: CallbackFinding = {
    code: 'signature-encoding',
    message: `X-Signature is a digest in ${encoding}, but signatureEncoding is '${allowed}'.`,
    remedy: `Set signatureEncoding: '${encoding}'.`,
    option: { name: 'signatureEncoding', value: encoding },
  };
  return { digest, findings: [...faults, otherEncoding] };
}

function isDigest(text: string, allowed: SignatureEncoding | 'auto'): boolean {
  try {
    parseSignature(text, allowed);
    return true;
  } catch {
    return false;
  }
}

function malformedSignature(text: string): CallbackFinding {
  const isHex = /^[\da-f]+$/i.test(text);
  return {
    code: 'signature-malformed',
    message: `X-Signature is not a SHA-256 digest: it has ${text.length} characters${isHex ? ', all hex digits' : ''}.`,
    remedy:
      'Pass X-Signature as received: the digest alone (64 characters in hex, 43 or 44 in base64), without white space, quotes or a prefix such as sha256=.',
  };
}

/** Finds what is wrong with X-Timestamp itself: absence, format, unit, difference from the clock. */
export function findTimestampFaults(
  { text, faults }: CapturedHeader,
  policy: ResolvedPolicy,
): readonly CallbackFinding[] {
  if (faults.length > 0 || text === undefined) return faults;
  const { timestampUnit: unit } = policy;
  const sentAtMs = readTimestamp(text, unit);
  if (sentAtMs !== undefined) return findSkew(sentAtMs, policy);
  const otherUnit = unit === 'seconds' ? 'milliseconds' : 'seconds';
  const inOtherUnit = readTimestamp(text, otherUnit);
  if (inOtherUnit === undefined) {
    const malformed: CallbackFinding = {
      code: 'timestamp-malformed',
      message: `X-Timestamp is not a Unix timestamp of at most 15 digits: it has ${text.length} characters.`,
      remedy: 'Send Unix seconds, digits only: Math.floor(date.getTime() / 1000).',
    };
    return [malformed];
  }
  const wrongUnit: CallbackFinding = {
    code: 'timestamp-unit',
    message: `X-Timestamp is in ${otherUnit}, but ${unit} are expected.`,
    remedy: `If the service sends ${otherUnit}, set timestampUnit: '${otherUnit}'.`,
    option: { name: 'timestampUnit', value: otherUnit },
  };
  return [wrongUnit, ...findSkew(inOtherUnit, policy)];
}

function readTimestamp(text: string, unit: ResolvedPolicy['timestampUnit']): number | undefined {
  try {
    return parseTimestamp(text, unit);
  } catch {
    return undefined;
  }
}

function findSkew(sentAtMs: number, policy: ResolvedPolicy): readonly CallbackFinding[] {
  const code = 'timestamp-outside-window';
  const allowed = `more than the ${policy.toleranceSeconds} s allowed`;
  try {
    assertInsideWindow(sentAtMs, policy);
    return [];
  } catch (error) {
    const { skewSeconds = Number.NaN } = error as CallbackVerificationError;
    if (skewSeconds < 0) {
      const message = `X-Timestamp is ${-skewSeconds} s ahead of the clock, ${allowed}: one of the two clocks is off.`;
      const remedy = "Compare this machine's clock with a time server (timedatectl, w32tm).";
      return [{ code, message, remedy, skewSeconds }];
    }
    const option = { name: 'now' } as const;
    if (skewSeconds > 0) {
      const message = `X-Timestamp is ${skewSeconds} s behind the clock, ${allowed}: the callback was captured earlier, delayed or replayed, or this machine's clock is ahead.`;
      const remedy = 'For a captured callback, make now return the time it was received.';
      return [{ code, message, remedy, option, skewSeconds }];
    }
    const message = 'X-Timestamp cannot be checked: the clock returned no number.';
    return [{ code, message, remedy: 'Make the option now return epoch milliseconds.', option }];
  }
}
