import { describeValue } from '../protocol/describe-value.js';
import { invalidOption } from '../protocol/options.js';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../protocol/wire.js';
import { invalidHeader, missingHeader, type SigningHeader } from './refusals.js';

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

type FoundHeaders = { timestamp?: string | undefined; signature?: string | undefined };

// Of both names: others are skipped without lower-casing them.
const NAME_LENGTH = TIMESTAMP_HEADER.length;

/**
 * Reads X-Timestamp and X-Signature (interface section 4.2).
 *
 * @throws {CallbackVerificationError} when one is missing, empty or sent more than once
 * @throws {InvalidOptionError} when `headers` is not a collection of headers
 */
export function readSigningHeaders(headers: unknown): { timestamp: string; signature: string } {
  const { timestamp, signature } = findHeaders(headers);
  if (!timestamp) throw missingHeader('X-Timestamp');
  if (!signature) throw missingHeader('X-Signature');
  return { timestamp, signature };
}

function findHeaders(headers: unknown): FoundHeaders {
  if (typeof headers !== 'object' || headers === null) {
    const expected = 'the headers of the request (an object, a Headers or pairs)';
    throw invalidOption('headers', expected, headers);
  }
  const found: FoundHeaders = {};
  if (isFetchHeaders(headers)) {
    found.timestamp = headers.get(TIMESTAMP_HEADER) ?? undefined;
    found.signature = headers.get(SIGNATURE_HEADER) ?? undefined;
  } else if (isIterable(headers)) {
    for (const pair of headers) addPair(found, pair);
  } else {
    for (const name in headers) {
      if (name.length === NAME_LENGTH) {
        addHeader(found, name, (headers as Readonly<Record<string, unknown>>)[name]);
      }
    }
  }
  return found;
}

function addPair(found: FoundHeaders, pair: unknown): void {
  const [name, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
  if (typeof name !== 'string') {
    const remedy = "instead of Node's rawHeaders pass req.headers";
    throw invalidOption('headers', 'a list of [name, value] pairs', pair, remedy);
  }
  addHeader(found, name, value);
}

function addHeader(found: FoundHeaders, name: string, value: unknown): void {
  const lowerCased = name.toLowerCase();
  if (lowerCased === TIMESTAMP_HEADER) {
    found.timestamp = onlyValue(found.timestamp, value, 'X-Timestamp');
  } else if (lowerCased === SIGNATURE_HEADER) {
    found.signature = onlyValue(found.signature, value, 'X-Signature');
  }
}

// A proxy or framework may have used either of two values, so neither is trusted.
function onlyValue(
  earlier: string | undefined,
  value: unknown,
  header: SigningHeader,
): string | undefined {
  if (value === undefined || value === null) return earlier;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length === 0) return earlier;
  if (values.length > 1 || earlier !== undefined) {
    throw invalidHeader(header, 'sent once; received it more than once');
  }
  const [only] = values;
  if (typeof only === 'string') return only;
  throw invalidHeader(header, `a string; received ${describeValue(only)}`);
}

/** The content-encoding of a body that may be compressed, fit to be shown; undefined if there is none. */
export function findContentEncoding(headers: CallbackHeaders): string | undefined {
  const pairs = isFetchHeaders(headers)
    ? [['content-encoding', headers.get('content-encoding')] as const]
    : isIterable(headers)
      ? [...headers]
      : Object.entries(headers);
  const value = pairs.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1];
  const encoding = String(value ?? '').toLowerCase();
  if (encoding === '' || encoding === 'identity') return undefined;
  return /^[a-z][a-z\d, -]{0,31}$/.test(encoding) ? encoding : 'of an unusual form';
}

// A Map has get() too, but its names are case-sensitive. It has no append().
function isFetchHeaders(headers: object): headers is FetchHeaders {
  const { get, append } = headers as Partial<FetchHeaders>;
  return typeof get === 'function' && typeof append === 'function';
}

const isIterable = (headers: object): headers is Iterable<readonly [string, string]> =>
  Symbol.iterator in headers;
