import { type CallbackHeaders, readSignedHeaders } from '../../callback/headers.js';
import { InvalidOptionError } from '../../errors.js';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../protocol/wire.js';

/** A header that came under another name than the one that was looked for. */
export interface SimilarHeader {
  readonly name: string;
  readonly value: string;
}

export interface CapturedHeader {
  /** Every value of the header that is text and not empty. */
  readonly values: readonly string[];
  /** Whether it came more than once, an empty one counted. */
  readonly isRepeated: boolean;
  /** Looked for only when there is no value. */
  readonly similar: readonly SimilarHeader[];
}

export interface CapturedHeaders {
  readonly timestamp: CapturedHeader;
  readonly signature: CapturedHeader;
}

/** @throws {InvalidOptionError} when `headers` is no collection of headers at all */
export function captureHeaders(headers: CallbackHeaders): CapturedHeaders {
  assertHeaders(headers);
  const all = listHeaders(headers);
  return {
    timestamp: captureHeader(all, TIMESTAMP_HEADER, /timestamp|request-?time|^x-time$/),
    signature: captureHeader(all, SIGNATURE_HEADER, /signature|hmac|^x-sig$|^x-sign$/),
  };
}

function assertHeaders(headers: CallbackHeaders): void {
  try {
    readSignedHeaders(headers);
  } catch (error) {
    if (error instanceof InvalidOptionError) throw error;
  }
}

type NamedValue = readonly [name: string, value: unknown];

function listHeaders(headers: CallbackHeaders): readonly NamedValue[] {
  if (Symbol.iterator in headers) return [...headers] as readonly NamedValue[];
  const { get } = headers as { get?: unknown };
  // Something like a Headers that can't be listed.
  if (typeof get === 'function') {
    return [TIMESTAMP_HEADER, SIGNATURE_HEADER].map((name) => [name, get.call(headers, name)]);
  }
  return Object.entries(headers);
}

const MAX_SIMILAR = 5;

function captureHeader(all: readonly NamedValue[], wanted: string, alike: RegExp): CapturedHeader {
  const found = all
    .filter(
      ([name, value]) => name.toLowerCase() === wanted && value !== undefined && value !== null,
    )
    .flatMap(([, value]): readonly unknown[] => (Array.isArray(value) ? value : [value]));
  const values = found.filter(isText);
  const isRepeated = found.length > 1;
  if (values.length > 0) return { values, isRepeated, similar: [] };
  const similar = all
    .filter(([name]) => isSimilar(name, wanted, alike))
    .flatMap(([name, value]) =>
      [value]
        .flat()
        .filter(isText)
        .map((text) => ({ name, value: text })),
    )
    .slice(0, MAX_SIMILAR);
  return { values, isRepeated, similar };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

// Longer names, and those that no header can have, are not repeated in a message.
const HEADER_NAME = /^[\w-]{1,64}$/;

function isSimilar(name: string, wanted: string, alike: RegExp): boolean {
  if (!HEADER_NAME.test(name)) return false;
  // CGI and PHP hand X-Signature over as HTTP_X_SIGNATURE.
  const plain = name
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^http-/, '');
  return plain === wanted || alike.test(plain);
}
