import type { CallbackRequest, RawBody, VerifyCallbackOptions } from 'merchant-payments/callback';
import type { CallbackDiagnosis, CallbackFinding } from 'merchant-payments/testing';
import { plainText } from '../../protocol/plain-text.js';
import { type Call, defineCommand, parsed, text, UsageError } from '../command.js';
import { type Layout, labelledLines } from '../layout.js';
import {
  choice,
  parseInstant,
  readInput,
  requireSigningSecret,
  signingSecretsOption,
  timestampUnitOption,
  wholeNumber,
} from '../option-values.js';

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
    const verifyOptions = toVerifyOptions(call);
    const request = await readCapture(call);
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

/** Names flags instead of options in the remedies. */
function nameFindingFlags(diagnosis: CallbackDiagnosis): CallbackDiagnosis {
  const findings = diagnosis.findings.map((finding) => {
    const remedy = finding.remedy
      .replace(/^Set signatureEncoding: '(\w+)'/, 'Give --signature-encoding $1')
      .replace(/set timestampUnit: '(\w+)'/, 'give --timestamp-unit $1')
      .replace(/make now return (the time it was received)/, 'give $1: --at <time>');
    return { ...finding, remedy };
  });
  return { ...diagnosis, findings };
}

/** Reads the captured callback that the options name, or without options the one on standard input. */
async function readCapture({
  options: { 'http-file': http, 'json-file': json },
  terminal,
}: Call<typeof options>): Promise<CallbackRequest> {
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
export function parseCapture(source: Buffer): CallbackRequest {
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
function parseHttpMessage(source: Buffer): CallbackRequest {
  // A character of it is a byte.
  const all = source.toString('latin1');
  const text = all.replace(/^(?:\xef\xbb\xbf)?\s*/, '');
  const [head = ''] = text.split(/\r?\n\r?\n/, 1);
  if (head === text) {
    throw new UsageError(
      'the HTTP message has no empty line, and so no body: give the headers, an empty line, and the body as received',
    );
  }
  const [first = '', ...others] = head.split(/\r?\n/);
  const headers = parseHeaderLines(REQUEST_LINE.test(first) ? others : [first, ...others]);
  const end = text.indexOf('\n', text.indexOf('\n', head.length) + 1) + 1;
  const rest = source.subarray(all.length - text.length + end);
  return { headers, rawBody: withoutLineBreak(rest, headers) };
}

const REQUEST_LINE = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?)$/;

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

/** An editor adds a line break at the end of a file. */
function withoutLineBreak(rest: Buffer, headers: readonly HeaderPair[]): Buffer {
  const length = Number(headers.find(([name]) => /^content-length$/i.test(name))?.[1]);
  return /^[\r\n]+$/.test(rest.toString('latin1', length)) ? rest.subarray(0, length) : rest;
}

/**
 * Parses a capture in JSON: `headers`, and `rawBody` (text) or `rawBodyBase64`. Any other rawBody is not a raw body; the diagnosis explains it.
 */
function parseJsonCapture(source: Buffer): CallbackRequest {
  let value: unknown;
  try {
    value = JSON.parse(source.toString().replace(/^\ufeff/, ''));
  } catch {
    throw new UsageError('the capture begins like JSON, but is not valid JSON');
  }
  const { headers, rawBody: body, rawBodyBase64: base64 } = value as Record<string, unknown>;
  const rawBody = base64 === undefined ? body : decode(base64);
  if (rawBody === undefined || rawBody === null) {
    throw new UsageError('the capture has neither rawBody nor rawBodyBase64: add one of them');
  }
  return { headers: headers as CallbackRequest['headers'], rawBody: rawBody as RawBody };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decode(base64: unknown): Buffer {
  if (typeof base64 === 'string' && BASE64.test(base64)) return Buffer.from(base64, 'base64');
  throw new UsageError('rawBodyBase64 must be base64');
}

/** Describes a diagnosis for people: the verdict, the record, what is wrong and what to do. */
export function describeDiagnosis(
  diagnosis: CallbackDiagnosis,
  { width, paint }: Layout,
): string[] {
  const { verified, error, findings } = diagnosis;
  const verdict = verified
    ? paint('green', 'verified: the callback is authentic, fresh, and a status record')
    : paint('red', `refused with ${error?.code}`);
  return [
    verdict,
    ...describeSignature(diagnosis, width),
    ...describePayment(diagnosis, width),
    ...findings.flatMap((finding) => describeFinding(finding, { width, paint })),
  ];
}

function describeSignature(
  { payment, secretIndex, error }: CallbackDiagnosis,
  width: number,
): string[] {
  // The first is the usual one.
  const which = secretIndex ? `, with signing secret ${secretIndex + 1}` : '';
  const isMissing = error?.code === 'MISSING_SIGNATURE';
  const unknown = isMissing ? 'missing' : 'does not match, and nothing that was tried explains it';
  const text =
    secretIndex === undefined
      ? unknown
      : `matches this callback${which}${payment ? '' : ', once the findings below are fixed'}`;
  return labelledLines('  signature  ', text, width);
}

function describePayment({ payment, verified }: CallbackDiagnosis, width: number): string[] {
  if (payment === undefined) return [];
  const warning = verified ? '' : ' (authentic, but refused: look at it, do not act on it)';
  const { status, merchantPaymentReference, referenceNumber, updatedAt } = payment;
  return [
    ['  status     ', `${status}${warning}`],
    ['  reference  ', merchantPaymentReference],
    ['  number     ', referenceNumber],
    ['  updated    ', updatedAt],
  ].flatMap(([label = '', text = '']) => labelledLines(label, plainText(text), width));
}

function describeFinding(
  { code, message, remedy }: CallbackFinding,
  { width, paint }: Layout,
): string[] {
  return [
    '',
    paint('yellow', code),
    ...labelledLines('  seen  ', plainText(message), width),
    ...labelledLines('  fix   ', plainText(remedy), width),
  ];
}
