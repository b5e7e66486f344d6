import { UsageError } from '../command.js';
import type { CapturedCallback, HeaderPair } from './captured-callback.js';

/**
 * Reads an HTTP message: a request line or none, headers with CRLF or LF, an empty line, and the
 * body as bytes.
 *
 * @throws {UsageError} for a line that is no header
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
        remedy: 'the HTTP message has no empty line and so no body: give it as --body-file',
      },
      notes: [],
    };
  }
  const { bytes, notes } = readBody(rest, headers);
  return { headers, body: { kind: 'bytes', bytes }, notes };
}

const REQUEST_LINE = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?)$/;

/** Headers of a file of their own: header lines; what follows an empty line is not looked at. */
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
    // Empty lines before the first are not the end of the headers.
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
      `header line ${index + 1} is not of the form "Name: value": give the headers as they were received, one on a line, and an empty line before the body`,
    );
  });
}

function readBody(
  rest: Buffer,
  headers: readonly HeaderPair[],
): { readonly bytes: Buffer; readonly notes: readonly string[] } {
  const coding = headerValue(headers, 'transfer-encoding');
  if (coding !== undefined && /\bchunked\b/i.test(coding)) {
    const decoded = decodeChunks(rest);
    // A log that shows the header usually holds the body as it was put together again.
    return decoded === undefined
      ? { bytes: rest, notes: [] }
      : { bytes: decoded, notes: ['the chunks of the body were put together'] };
  }
  const length = Number(headerValue(headers, 'content-length') ?? rest.byteLength);
  if (!Number.isSafeInteger(length) || length === rest.byteLength)
    return { bytes: rest, notes: [] };
  // An editor ends a file with a line break, which is no part of the message.
  if (rest.byteLength > length && /^[\r\n]*$/.test(rest.toString('latin1', length))) {
    return {
      bytes: rest.subarray(0, length),
      notes: [`line breaks behind the ${length} bytes of Content-Length were left out`],
    };
  }
  return {
    bytes: rest,
    notes: [
      `the body has ${rest.byteLength} bytes, but Content-Length says ${length}: it is not as it was received`,
    ],
  };
}

function headerValue(headers: readonly HeaderPair[], wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** `undefined` for what is not chunked. */
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
