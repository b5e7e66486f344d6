import { UsageError } from './command.js';

/** A name and a value, as received. */
export type HeaderPair = readonly [name: string, value: string];

/** A captured callback. */
export interface CapturedCallback {
  readonly headers: readonly HeaderPair[];
  readonly body: CapturedBody;
  /** Notes on the capture for the user, one line each. */
  readonly notes: readonly string[];
}

/**
 * - `bytes`: the body.
 * - `parsed`: the capture has parsed JSON in place of the body's text.
 * - `none`: the capture has no body; `remedy` says what to give.
 */
export type CapturedBody =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'none'; readonly remedy: string };

/**
 * Parses an HTTP message: an optional request line, headers with CRLF or LF, an empty line, and the body.
 *
 * @throws {UsageError} for a line that is not a header
 */
export function parseHttpMessage(source: Buffer): CapturedCallback {
  const { lines, rest } = splitHead(source);
  const [first = '', ...others] = lines;
  const headers = parseHeaderLines(REQUEST_LINE.test(first) ? others : lines);
  if (rest === undefined) {
    return {
      headers,
      body: {
        kind: 'none',
        remedy:
          'the HTTP message has no empty line, and so no body: give the body with --body-file',
      },
      notes: [],
    };
  }
  const { bytes, notes } = readMessageBody(rest, headers);
  return { headers, body: { kind: 'bytes', bytes }, notes };
}

const REQUEST_LINE = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?)$/;

/** Parses header lines; ignores what follows an empty line. */
export function parseHeaderFile(source: Buffer): readonly HeaderPair[] {
  const { lines } = splitHead(source);
  const [first = '', ...others] = lines;
  return parseHeaderLines(REQUEST_LINE.test(first) ? others : lines);
}

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
 * Parses a capture in JSON: `headers` (an object, or pairs) with `rawBody` (text) or `rawBodyBase64`, as
 * `callback sign --json` prints it; or an AWS Lambda event with `body` and `isBase64Encoded`.
 *
 * @throws {UsageError} for anything else
 */
export function parseJsonCapture(source: Buffer): CapturedCallback {
  const value = parseObject(source, 'the capture');
  // As the handler for Lambda reads them. An ALB may send only these.
  const { headers, multiValueHeaders: multiple } = value;
  const hasMultiple = Object.keys(multiple ?? {}).length > 0;
  const given = readHeaders(hasMultiple ? multiple : headers);
  return { headers: given, body: readJsonBody(value), notes: [] };
}

/** Parses headers in JSON. */
export function parseJsonHeaders(source: Buffer): readonly HeaderPair[] {
  return readHeaders(parseJson(source, 'the file of headers'));
}

function parseJson(source: Buffer, what: string): unknown {
  try {
    return JSON.parse(source.toString().replace(/^\ufeff/, ''));
  } catch {
    throw new UsageError(`${what} begins like JSON, but is not valid JSON`);
  }
}

function parseObject(source: Buffer, what: string): Readonly<Record<string, unknown>> {
  const value = parseJson(source, what);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new UsageError(`${what} must be a JSON object with headers and rawBody`);
}

function readHeaders(value: unknown): readonly HeaderPair[] {
  if (Array.isArray(value)) return value.map(readPair);
  if (typeof value !== 'object' || value === null) throw wrongHeaders();
  return Object.entries(value).flatMap(([name, one]) => {
    const values: readonly unknown[] = Array.isArray(one) ? one : [one];
    return values.map((text) => readPair([name, text]));
  });
}

function readPair(pair: unknown): HeaderPair {
  if (!Array.isArray(pair) || pair.length !== 2) throw wrongHeaders();
  const [name, value] = pair as readonly unknown[];
  // A log may write the timestamp as a number.
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof name !== 'string' || typeof text !== 'string') throw wrongHeaders();
  return [name, text];
}

function wrongHeaders(): UsageError {
  return new UsageError(
    'headers must be a JSON object of names and strings, or a list of [name, string] pairs',
  );
}

function readJsonBody(capture: Readonly<Record<string, unknown>>): CapturedBody {
  const { rawBody, rawBodyBase64, body, isBase64Encoded } = capture;
  if (rawBodyBase64 !== undefined)
    return { kind: 'bytes', bytes: decode('rawBodyBase64', rawBodyBase64) };
  if (rawBody === undefined && isBase64Encoded === true) {
    return { kind: 'bytes', bytes: decode('body', body) };
  }
  const given = rawBody ?? body;
  if (given === undefined || given === null) {
    return {
      kind: 'none',
      remedy: 'the capture has neither rawBody nor rawBodyBase64: add one, or give --body-file',
    };
  }
  if (typeof given !== 'string') return { kind: 'parsed', value: given };
  // A lone surrogate has no bytes; the diagnosis explains it.
  return given.isWellFormed()
    ? { kind: 'bytes', bytes: Buffer.from(given) }
    : { kind: 'parsed', value: given };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decode(field: string, value: unknown): Buffer {
  if (typeof value === 'string' && BASE64.test(value)) return Buffer.from(value, 'base64');
  throw new UsageError(`${field} must be base64`);
}
