import { CallbackVerificationError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { hasMethod, invalidOption } from '../protocol/options.js';
import { entriesOf, fieldOf } from '../protocol/own-fields.js';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../protocol/wire.js';

/** The part of the Fetch `Headers` class that is used, declared here so that no DOM types are needed. */
export interface FetchHeaders {
  /** The value of a header, in any case of its name. */
  get(name: string): string | null;
  /** Never called. Distinguishes `Headers` from a Map, which has no `append`. */
  append(name: string, value: string): void;
}

/**
 * Headers of a callback: Node's `req.headers` (or `headersDistinct`), a Fetch `Headers`, an AWS
 * Lambda event's `headers` or `multiValueHeaders` (names in any case), or name and value pairs.
 */
export type CallbackHeaders =
  | FetchHeaders
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string]>;

export interface SignedHeaders {
  readonly timestamp: string;
  readonly signature: string;
}

interface FoundHeaders {
  timestamp: string | undefined;
  signature: string | undefined;
}

const CONTENT_ENCODING = 'content-encoding';

// Both names have this length; headers of other lengths are skipped without lower-casing them.
const NAME_LENGTH = TIMESTAMP_HEADER.length;

/**
 * Reads X-Timestamp and X-Signature (interface section 4.2).
 *
 * @throws {CallbackVerificationError} `MISSING_TIMESTAMP`, `MISSING_SIGNATURE`, or
 * `INVALID_TIMESTAMP` and `INVALID_SIGNATURE` for a header that is sent more than once
 * @throws {InvalidOptionError} when `headers` is not a collection of headers
 */
export function readSignedHeaders(headers: unknown): SignedHeaders {
  const { timestamp, signature } = findHeaders(headers);
  if (timestamp === undefined || timestamp === '') {
    throw new CallbackVerificationError('MISSING_TIMESTAMP', missing('X-Timestamp'));
  }
  if (signature === undefined || signature === '') {
    throw new CallbackVerificationError('MISSING_SIGNATURE', missing('X-Signature'));
  }
  return { timestamp, signature };
}

function missing(header: string): string {
  return `The ${header} header is missing; pass the headers of the request as received, and check that no proxy drops it`;
}

function findHeaders(headers: unknown): FoundHeaders {
  if (typeof headers !== 'object' || headers === null) {
    throw invalidOption(
      'headers',
      'the headers of the request (an object, a Headers or pairs)',
      headers,
    );
  }
  const found: FoundHeaders = { timestamp: undefined, signature: undefined };
  if (isFetchHeaders(headers)) {
    addHeader(found, TIMESTAMP_HEADER, headers.get(TIMESTAMP_HEADER));
    addHeader(found, SIGNATURE_HEADER, headers.get(SIGNATURE_HEADER));
  } else if (isIterable(headers)) {
    for (const pair of headers) addPair(found, pair);
  } else {
    for (const name in headers) {
      if (name.length === NAME_LENGTH) addHeader(found, name, fieldOf(headers, name));
    }
  }
  return found;
}

function addPair(found: FoundHeaders, pair: unknown): void {
  const [name, value] = Array.isArray(pair) ? entriesOf(pair) : [];
  if (typeof name !== 'string') {
    const remedy = "instead of Node's rawHeaders pass req.headers";
    throw invalidOption('headers', 'a list of [name, value] pairs', pair, remedy);
  }
  addHeader(found, name, value);
}

function addHeader(found: FoundHeaders, name: string, value: unknown): void {
  const lowerCased = name.toLowerCase();
  if (lowerCased === TIMESTAMP_HEADER) {
    found.timestamp = onlyValue(found.timestamp, value, 'INVALID_TIMESTAMP', 'X-Timestamp');
  } else if (lowerCased === SIGNATURE_HEADER) {
    found.signature = onlyValue(found.signature, value, 'INVALID_SIGNATURE', 'X-Signature');
  }
}

function onlyValue(
  earlier: string | undefined,
  value: unknown,
  code: 'INVALID_TIMESTAMP' | 'INVALID_SIGNATURE',
  header: string,
): string | undefined {
  if (typeof value === 'string' && earlier === undefined) return value;
  if (value === undefined || value === null) return earlier;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length === 0) return earlier;
  const [only] = values;
  // A proxy or framework may have used either of two values, so neither is trusted.
  if (values.length > 1 || earlier !== undefined) {
    throw new CallbackVerificationError(
      code,
      `${header} must be sent once; received it more than once`,
    );
  }
  if (typeof only !== 'string') {
    throw new CallbackVerificationError(
      code,
      `${header} must be a string; received ${describeValue(only)}`,
    );
  }
  return only;
}

/**
 * The content-encoding of a body that may be compressed, fit to be shown; undefined if there is none. A list
 * that can be read only once has nothing left.
 */
export function findContentEncoding(headers: CallbackHeaders): string | undefined {
  const pairs = isFetchHeaders(headers)
    ? [[CONTENT_ENCODING, headers.get(CONTENT_ENCODING)] as const]
    : isIterable(headers)
      ? [...headers]
      : Object.entries(headers);
  const value = pairs.find(([name]) => name.toLowerCase() === CONTENT_ENCODING)?.[1];
  const encoding = String(value ?? '').toLowerCase();
  if (encoding === '' || encoding === 'identity') return undefined;
  return /^[a-z][a-z\d, -]{0,31}$/.test(encoding) ? encoding : 'of an unusual form';
}

// A Map has get() too, but its names are case-sensitive. It has no append().
function isFetchHeaders(headers: object): headers is FetchHeaders {
  return hasMethod(headers, 'get') && hasMethod(headers, 'append');
}

function isIterable(headers: object): headers is Iterable<readonly [string, string]> {
  return fieldOf(headers, Symbol.iterator) !== undefined;
}
