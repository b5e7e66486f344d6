import type { CallbackRequest, RawBody, VerifyCallbackOptions } from 'merchant-payments/callback';
import type { CallbackDiagnosis } from 'merchant-payments/testing';
import * as z from 'zod/mini';
import { plainText } from '../../protocol/plain-text.js';
import { type Call, defineCommand, parsed, text, UsageError } from '../command.js';
import { describeDiagnosis } from '../diagnosis-text.js';
import {
  choice,
  parseInstant,
  readInput,
  requireSigningSecret,
  signingSecretsOption,
  timestampUnitOption,
  wholeNumber,
} from '../option-values.js';
import { printNote } from '../terminal.js';

const options = {
  'http-file': text({
    value: 'file',
    help: 'An HTTP message: headers, an empty line, the body; - for standard input, the default.',
  }),
  'json-file': text({ value: 'file', help: 'JSON with headers, and rawBody or rawBodyBase64.' }),
  'signing-secret': signingSecretsOption,
  tolerance: wholeNumber({
    value: 'seconds',
    help: 'The largest difference allowed between X-Timestamp and the clock, in seconds. Default: 300',
    sets: 'toleranceSeconds',
  }),
  'signature-encoding': choice('The encoding of the signature.', [
    'auto',
    'hex',
    'base64',
    'base64url',
  ]),
  'timestamp-unit': timestampUnitOption,
  at: parsed(
    {
      value: 'time',
      help: 'When the callback was received: Unix seconds, or ISO 8601 with an offset. Default: now',
    },
    parseInstant,
  ),
};

export const verify = defineCommand({
  summary: 'Explains why a captured callback is refused.',
  options,
  details: ['It reads an HTTP message or JSON.'],
  examples: [
    'merchant-payments callback verify --http-file callback.http --at 2026-01-31T12:00:00Z',
    'merchant-payments callback verify --json-file callback.json',
  ],
  async run(call) {
    const { terminal } = call;
    const verifyOptions = toVerifyOptions(call);
    const { request, notes } = await readCapture(call);
    for (const note of notes) printNote(terminal, `note: ${plainText(note)}`);
    const { diagnoseCallback } = await import('merchant-payments/testing');
    const diagnosis = nameFindingFlags(diagnoseCallback(request, verifyOptions));
    return {
      json: diagnosis,
      lines: (layout) => describeDiagnosis(diagnosis, layout),
      code: diagnosis.verified ? 0 : 1,
    };
  },
});

function toVerifyOptions({
  options: given,
  terminal,
}: Call<typeof options>): VerifyCallbackOptions {
  const { at: nowMs, 'signing-secret': secrets } = given;
  return {
    signingSecret: secrets.length > 1 ? secrets : requireSigningSecret(secrets[0], terminal),
    toleranceSeconds: given.tolerance,
    signatureEncoding: given['signature-encoding'],
    timestampUnit: given['timestamp-unit'],
    now: nowMs === undefined ? undefined : () => nowMs,
  };
}

/** Remedies on the command line for findings that an option fixes. */
const REMEDIES = {
  signatureEncoding: (value = '') => `Give --signature-encoding ${value}.`,
  timestampUnit: (value = '') => `If the service sends ${value}, give --timestamp-unit ${value}.`,
  now: () => 'For a captured callback, give the time it was received: --at <time>.',
} as const;

/** Names flags instead of options in the remedies. */
function nameFindingFlags(diagnosis: CallbackDiagnosis): CallbackDiagnosis {
  const findings = diagnosis.findings.map((finding) => {
    if (finding.option === undefined) return finding;
    const { name, value } = finding.option;
    return { ...finding, remedy: REMEDIES[name](value) };
  });
  return { ...diagnosis, findings };
}

/** A captured callback. */
interface CapturedCallback {
  readonly request: CallbackRequest;
  /** Notes on the capture for the user, one line each. */
  readonly notes: readonly string[];
}

/** Reads the captured callback that the options name, or without options the one on standard input. */
async function readCapture({
  options: { 'http-file': http, 'json-file': json },
  terminal,
}: Call<typeof options>): Promise<CapturedCallback> {
  if (http !== undefined && json !== undefined) {
    throw new UsageError('give one capture: --http-file or --json-file');
  }
  const option = json === undefined ? '--http-file' : '--json-file';
  const path = http ?? json ?? '-';
  const bytes = await readInput({ option, path }, terminal);
  if (path === '-' && !/\S/.test(bytes.toString('latin1'))) {
    throw new UsageError(
      'standard input is empty: pipe in the callback as captured, or give a file; see --help',
    );
  }
  return parseCapture(bytes);
}

/** Parses a capture: JSON if it begins with a brace, otherwise an HTTP message. */
export function parseCapture(source: Buffer): CapturedCallback {
  const head = source
    .toString('utf8', 0, 1_024)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (head.startsWith('{')) return parseJsonCapture(source);
  // The dashboard offers curl commands, so users paste them here.
  if (/^(?:\$ +)?curl\s/.test(head)) {
    throw new UsageError(
      "a curl command can't be read: give an HTTP message, or JSON with headers and rawBody",
    );
  }
  return parseHttpMessage(source);
}

type HeaderPair = readonly [name: string, value: string];

/** Parses an HTTP message: an optional request line, headers with CRLF or LF, an empty line, and the body. */
function parseHttpMessage(source: Buffer): CapturedCallback {
  const { lines, rest } = splitHead(source);
  const [first = '', ...others] = lines;
  const headers = parseHeaderLines(REQUEST_LINE.test(first) ? others : lines);
  if (rest === undefined) {
    throw new UsageError(
      'the HTTP message has no empty line, and so no body: give the headers, an empty line, and the body as received',
    );
  }
  return readMessageBody(rest, headers);
}

const REQUEST_LINE = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?)$/;

const LINE_FEED = 0x0a;

/** Splits a message at its first empty line, after those at its beginning; `rest` is `undefined` without one. */
function splitHead(source: Buffer): { readonly lines: readonly string[]; readonly rest?: Buffer } {
  const lines: string[] = [];
  for (let start = 0; start < source.byteLength; ) {
    const end = source.indexOf(LINE_FEED, start);
    const stop = end < 0 ? source.byteLength : end;
    const line = source
      .toString('latin1', start, stop)
      .replace(/^\xef\xbb\xbf/, '')
      .replace(/\r$/, '');
    start = stop + 1;
    if (line !== '') lines.push(line);
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

function readMessageBody(rest: Buffer, headers: readonly HeaderPair[]): CapturedCallback {
  const as = (rawBody: Buffer, ...notes: string[]) => ({ request: { headers, rawBody }, notes });
  const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  if (/\bchunked\b/i.test(headerOf('transfer-encoding') ?? '')) {
    // Most logs with this header have the body already decoded.
    return as(
      rest,
      'Transfer-Encoding is chunked: remove the length in front of each chunk, if any',
    );
  }
  const length = Number(headerOf('content-length') ?? rest.byteLength);
  if (!Number.isSafeInteger(length) || length === rest.byteLength) return as(rest);
  // An editor adds a line break at the end of a file.
  if (rest.byteLength > length && /^[\r\n]*$/.test(rest.toString('latin1', length))) {
    const note = `line breaks after the ${length} bytes of Content-Length were ignored`;
    return as(rest.subarray(0, length), note);
  }
  const note = `the body has ${rest.byteLength} bytes, but Content-Length is ${length}: it is not as received`;
  return as(rest, note);
}

/**
 * Parses a capture in JSON: `headers`, and `rawBody` (text) or `rawBodyBase64`. Any other rawBody is not a raw body; the diagnosis explains it.
 */
function parseJsonCapture(source: Buffer): CapturedCallback {
  let value: unknown;
  try {
    value = JSON.parse(source.toString().replace(/^\ufeff/, ''));
  } catch {
    throw new UsageError('the capture begins like JSON, but is not valid JSON');
  }
  const { headers, rawBody: body, rawBodyBase64: base64 } = value as Record<string, unknown>;
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

const captureHeaders = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decode(base64: unknown): Buffer {
  if (typeof base64 === 'string' && BASE64.test(base64)) return Buffer.from(base64, 'base64');
  throw new UsageError('rawBodyBase64 must be base64');
}
