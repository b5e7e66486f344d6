import { type CallbackHeaders, readSignedHeaders } from '../../callback/headers.js';
import type { ResolvedPolicy } from '../../callback/options.js';
import { parseSignatureFormat } from '../../callback/signature.js';
import { assertInsideWindow, parseTimestamp } from '../../callback/timestamp.js';
import { type CallbackVerificationError, InvalidOptionError } from '../../errors.js';
import { fieldOf } from '../../protocol/own-fields.js';
import { SIGNATURE_HEADER, type SignatureEncoding, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import type { CallbackDiagnosis, CallbackFinding } from './diagnosis.js';

export interface CapturedHeader {
  /** The text to check the signature with; if the header is missing, the text of a similar one. */
  readonly text: string | undefined;
  /** The header is missing, was sent more than once, or is not text. */
  readonly faults: readonly CallbackFinding[];
}

export interface CapturedHeaders {
  readonly timestamp: CapturedHeader;
  readonly signature: CapturedHeader;
}

type Part = keyof CapturedHeaders;

const NAMES = { timestamp: TIMESTAMP_HEADER, signature: SIGNATURE_HEADER } as const;
const TITLES = { timestamp: 'X-Timestamp', signature: 'X-Signature' } as const;

/** @throws {InvalidOptionError} when `headers` is not a collection of headers */
export function captureHeaders(headers: CallbackHeaders): CapturedHeaders {
  try {
    readSignedHeaders(headers);
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
  if (text !== undefined) return { text, faults: [] };
  const similar = all.filter((header) => isSimilar(header, part)).slice(0, MAX_SIMILAR);
  const names = Object.freeze(similar.map(([name]) => name));
  return { text: similar[0]?.[1] as string | undefined, faults: [missing(part, names)] };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const MAX_SIMILAR = 5;
// Longer or invalid names are not repeated in a message.
const HEADER_NAME = /^[\w-]{1,64}$/;

/** CGI and PHP, for example, rename X-Signature to HTTP_X_SIGNATURE. */
function isSimilar([name, value]: NamedValue, part: Part): boolean {
  return HEADER_NAME.test(name) && name.toLowerCase().includes(part) && isText(value);
}

function missing(part: Part, similarHeaders: readonly string[]): CallbackFinding {
  const [first] = similarHeaders;
  const title = TITLES[part];
  const received =
    first === undefined ? '' : ` Received with a similar name: ${similarHeaders.join(', ')}.`;
  return {
    code: `${part}-missing`,
    message: `${title} is missing.${received}`,
    remedy:
      first === undefined
        ? `Pass all headers as received: a proxy or the capture dropped or renamed ${title}.`
        : `Pass the value of ${first} as ${NAMES[part]}.`,
    similarHeaders,
  };
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
    parseSignatureFormat(text, allowed);
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
  signature: CallbackDiagnosis['signature'],
): readonly CallbackFinding[] {
  if (faults.length > 0 || text === undefined) return faults;
  const signatureNote = SIGNATURE_NOTES[signature];
  const { timestampUnit: unit } = policy;
  const sentAtMs = readTimestamp(text, unit);
  if (sentAtMs !== undefined) return findSkew(sentAtMs, policy, signatureNote);
  const otherUnit = unit === 'seconds' ? 'milliseconds' : 'seconds';
  const inOtherUnit = readTimestamp(text, otherUnit);
  if (inOtherUnit === undefined) {
    const malformed: CallbackFinding = {
      code: 'timestamp-malformed',
      message: `X-Timestamp is not a Unix timestamp of at most 15 digits: it has ${text.length} characters. ${signatureNote}`,
      remedy: 'Send Unix seconds, digits only: Math.floor(date.getTime() / 1000).',
    };
    return [malformed];
  }
  const wrongUnit: CallbackFinding = {
    code: 'timestamp-unit',
    message: `X-Timestamp is in ${otherUnit}, but ${unit} are expected. ${signatureNote}`,
    remedy: `If the service sends ${otherUnit}, set timestampUnit: '${otherUnit}'.`,
    option: { name: 'timestampUnit', value: otherUnit },
  };
  return [wrongUnit, ...findSkew(inOtherUnit, policy, signatureNote)];
}

const SIGNATURE_NOTES: Readonly<Record<CallbackDiagnosis['signature'], string>> = {
  right: 'The signature itself matches.',
  explained: 'The signature matches once the other findings are fixed.',
  unexplained: 'The signature does not match either.',
  missing: 'There is no signature to check.',
};

function readTimestamp(text: string, unit: ResolvedPolicy['timestampUnit']): number | undefined {
  try {
    return parseTimestamp(text, unit);
  } catch {
    return undefined;
  }
}

function findSkew(
  sentAtMs: number,
  policy: ResolvedPolicy,
  signatureNote: string,
): readonly CallbackFinding[] {
  try {
    assertInsideWindow(sentAtMs, policy);
    return [];
  } catch (error) {
    const { skewSeconds = Number.NaN } = error as CallbackVerificationError;
    const outside = describeSkew(skewSeconds, `more than the ${policy.toleranceSeconds} s allowed`);
    return [{ ...outside, message: `${outside.message} ${signatureNote}` }];
  }
}

function describeSkew(skewSeconds: number, allowed: string): CallbackFinding {
  const code = 'timestamp-outside-window';
  if (!Number.isFinite(skewSeconds)) {
    return {
      code,
      message: 'X-Timestamp cannot be checked: the clock returned no number.',
      remedy: 'Make the option now return epoch milliseconds.',
      option: { name: 'now' },
    };
  }
  if (skewSeconds < 0) {
    return {
      code,
      message: `X-Timestamp is ${-skewSeconds} s ahead of the clock, ${allowed}: one of the two clocks is off.`,
      remedy: "Compare this machine's clock with a time server (timedatectl, w32tm).",
      skewSeconds,
    };
  }
  return {
    code,
    message: `X-Timestamp is ${skewSeconds} s behind the clock, ${allowed}: the callback was captured earlier, delayed or replayed, or this machine's clock is ahead.`,
    remedy: 'For a captured callback, make now return the time it was received.',
    option: { name: 'now' },
    skewSeconds,
  };
}
