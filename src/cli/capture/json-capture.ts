import { UsageError } from '../command.js';
import type { CapturedBody, CapturedCallback, HeaderPair } from './captured-callback.js';

/**
 * Reads a capture in JSON: `headers` (an object, or pairs) with `rawBody` (text) or `rawBodyBase64`,
 * as `callback sign --json` writes it; or an AWS Lambda event with `body` and `isBase64Encoded`.
 *
 * @throws {UsageError} for anything else
 */
export function parseJsonCapture(source: Buffer): CapturedCallback {
  const value = parseObject(source, 'the capture');
  return { headers: readHeaders(value['headers']), body: readBody(value), notes: [] };
}

/** The headers of a file of their own, in JSON. */
export function parseJsonHeaders(source: Buffer): readonly HeaderPair[] {
  return readHeaders(parseJson(source, 'the file of headers'));
}

function parseJson(source: Buffer, what: string): unknown {
  try {
    return JSON.parse(source.toString().replace(/^\ufeff/, ''));
  } catch {
    throw new UsageError(`${what} begins like JSON, but it is none`);
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
  // A timestamp that a log has written as a number.
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof name !== 'string' || typeof text !== 'string') throw wrongHeaders();
  return [name, text];
}

function wrongHeaders(): UsageError {
  return new UsageError(
    'headers must be a JSON object of names and texts, or a list of [name, text] pairs',
  );
}

function readBody(capture: Readonly<Record<string, unknown>>): CapturedBody {
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
  // Half of a surrogate pair has no bytes; the diagnosis says what it comes from.
  return given.isWellFormed()
    ? { kind: 'bytes', bytes: Buffer.from(given) }
    : { kind: 'parsed', value: given };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decode(field: string, value: unknown): Buffer {
  if (typeof value === 'string' && BASE64.test(value)) return Buffer.from(value, 'base64');
  throw new UsageError(`${field} must be base64, but something else came`);
}
