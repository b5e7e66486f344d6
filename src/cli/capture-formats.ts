import type { CallbackRequest, RawBody } from 'merchant-payments/callback';
import * as z from 'zod/mini';
import { UsageError } from './command.js';

/** A captured callback. */
export interface CapturedCallback {
  readonly request: CallbackRequest;
  /** Notes on the capture for the user, one line each. */
  readonly notes: readonly string[];
}

type HeaderPair = readonly [name: string, value: string];

/**
 * Parses an HTTP message: an optional request line, headers with CRLF or LF, an empty line, and the body.
 *
 * @throws {UsageError} for a line that is not a header, or without an empty line
 */
export function parseHttpMessage(source: Buffer): CapturedCallback {
  const { lines, rest } = splitHead(source);
  const [first = '', ...others] = lines;
  const headers = parseHeaderLines(REQUEST_LINE.test(first) ? others : lines);
  if (rest === undefined) {
    throw new UsageError(
      'the HTTP message has no empty line, and so no body: give the headers, an empty line, and the body as received',
    );
  }
  const { bytes, notes } = readMessageBody(rest, headers);
  return { request: { headers, rawBody: bytes }, notes };
}

const REQUEST_LINE = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?)$/;

interface Head {
  readonly lines: readonly string[];
  /** What follows the empty line; `undefined` without one. */
  readonly rest?: Buffer;
}

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;

function splitHead(source: Buffer): Head {
  const lines: string[] = [];
  let start = 0;
  while (start < source.byteLength) {
    const end = source.indexOf(LINE_FEED, start);
    const stop = end < 0 ? source.byteLength : end;
    const line = source.toString('latin1', start, stop).replace(BYTE_ORDER_MARK, '');
    start = stop + 1;
    if (line !== '' && line !== '\r') lines.push(line.replace(/\r$/, ''));
    // Empty lines before the first header do not end the headers.
    else if (lines.length > 0) return { lines, rest: source.subarray(start) };
  }
  return { lines };
}

const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+)[ \t]*:(.*)$/;

function parseHeaderLines(lines: readonly string[]): readonly HeaderPair[] {
  return lines.map((line, index) => {
    const [, name, value = ''] = HEADER_LINE.exec(line) ?? [];
    if (name !== undefined) return [name, value.trim()] as const;
    throw new UsageError(
      `header line ${index + 1} is not of the form "Name: value": give the headers as received, one per line, and an empty line before the body`,
    );
  });
}

function readMessageBody(
  rest: Buffer,
  headers: readonly HeaderPair[],
): { readonly bytes: Buffer; readonly notes: readonly string[] } {
  const coding = headerValue(headers, 'transfer-encoding');
  if (coding !== undefined && /\bchunked\b/i.test(coding)) {
    const decoded = decodeChunks(rest);
    // A log with this header usually has the body already decoded.
    return decoded === undefined
      ? { bytes: rest, notes: [] }
      : { bytes: decoded, notes: ['the chunked body was decoded'] };
  }
  const length = Number(headerValue(headers, 'content-length') ?? rest.byteLength);
  if (!Number.isSafeInteger(length) || length === rest.byteLength)
    return { bytes: rest, notes: [] };
  // An editor adds a line break at the end of a file.
  if (rest.byteLength > length && /^[\r\n]*$/.test(rest.toString('latin1', length))) {
    return {
      bytes: rest.subarray(0, length),
      notes: [`line breaks after the ${length} bytes of Content-Length were ignored`],
    };
  }
  return {
    bytes: rest,
    notes: [
      `the body has ${rest.byteLength} bytes, but Content-Length is ${length}: it is not as received`,
    ],
  };
}

function headerValue(headers: readonly HeaderPair[], wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** Returns `undefined` for a body that is not chunked. */
function decodeChunks(source: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = source.indexOf('\r\n', at);
    const [, digits] = /^([\da-f]{1,8})(?:;.*)?$/i.exec(source.toString('latin1', at, end)) ?? [];
    if (end < 0 || digits === undefined) return undefined;
    const size = Number.parseInt(digits, 16);
    if (size === 0) return Buffer.concat(pieces);
    const start = end + 2;
    if (source.toString('latin1', start + size, start + size + 2) !== '\r\n') return undefined;
    pieces.push(source.subarray(start, start + size));
    at = start + size + 2;
  }
}

/**
 * Parses a capture in JSON: `headers`, and `rawBody` (text) or `rawBodyBase64`, as `callback sign --json` prints
 * it. Any other rawBody is not a raw body; the diagnosis explains it.
 *
 * @throws {UsageError} for anything else
 */
export function parseJsonCapture(source: Buffer): CapturedCallback {
  const { headers, rawBody: body, rawBodyBase64: base64 } = parseObject(source);
  if (!captureHeaders.safeParse(headers).success) {
    throw new UsageError(
      'headers must be a JSON object of names and strings, or of names and lists of strings',
    );
  }
  const rawBody = base64 === undefined ? body : decode(base64);
  if (rawBody === undefined || rawBody === null) {
    throw new UsageError('the capture has neither rawBody nor rawBodyBase64: add one of them');
  }
  const request = { headers: headers as CallbackRequest['headers'], rawBody: rawBody as RawBody };
  return { request, notes: [] };
}

function parseObject(source: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(source.toString().replace(/^\ufeff/, ''));
  } catch {
    throw new UsageError('the capture begins like JSON, but is not valid JSON');
  }
  if (isObject(value)) return value;
  throw new UsageError('the capture must be a JSON object with headers and rawBody');
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const captureHeaders = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decode(base64: unknown): Buffer {
  if (typeof base64 === 'string' && BASE64.test(base64)) return Buffer.from(base64, 'base64');
  throw new UsageError('rawBodyBase64 must be base64');
}
