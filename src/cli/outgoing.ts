import type { SignatureEncoding } from 'merchant-payments/callback';
import type { SignedCallback } from 'merchant-payments/testing';
import { readInput } from './capture.js';
import { type Call, list, parsed, text, UsageError } from './command.js';
import { parseWholeNumber, readFields } from './option-values.js';
import { plainText } from './output.js';
import {
  requireSigningSecret,
  signatureEncodingOption,
  signingSecretOption,
} from './shared-options.js';

/** The latest second that a Date holds. */
const LATEST_SECOND = 8_640_000_000_000;

/** What says which callback is made, for the commands that make one. */
export const callbackOptions = {
  status: text({ value: 'status', help: 'The status. Default: paid' }),
  reference: text({ value: 'text', help: "The merchant's own reference. Default: a made up one" }),
  'reference-number': text({
    value: 'uuid',
    help: "The service's identifier of the payment. Default: a made up one",
  }),
  field: list({
    value: 'name=value',
    help: 'Another field of the record, or a further one: JSON, or text where it is not JSON.',
  }),
  body: text({ value: 'text', help: 'The whole body, instead of a record.' }),
  'body-file': text({
    value: 'file',
    help: 'A file with the whole body, taken as its bytes are; - for standard input.',
  }),
  'signing-secret': signingSecretOption,
  timestamp: parsed(
    { value: 'seconds', help: 'X-Timestamp, in Unix seconds. Default: now' },
    (name, given) => parseWholeNumber(name, given, { min: 0, max: LATEST_SECOND }),
  ),
  'signature-encoding': signatureEncodingOption,
};

/** A callback that is to be made. */
export interface CallbackInput {
  /** The whole body, when one is given. */
  readonly body: Uint8Array | undefined;
  /** Fields of the record that are given. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly signingSecret: string;
  /** In Unix seconds; `undefined` for now. */
  readonly timestamp: number | undefined;
  readonly signatureEncoding: SignatureEncoding;
}

type CallbackCall = Call<typeof callbackOptions>;

/** @throws {UsageError} for options that are invalid, or contradict each other */
export async function readCallbackInput(call: CallbackCall): Promise<CallbackInput> {
  const { options, terminal } = call;
  const signingSecret = requireSigningSecret(options['signing-secret'], terminal);
  const record = readRecord(options);
  const body = await readBody(call);
  if (body !== undefined && Object.keys(record).length > 0) {
    throw new UsageError(
      'a whole body leaves no room for --status, --reference, --reference-number and --field: give either',
    );
  }
  const { timestamp, 'signature-encoding': signatureEncoding } = options;
  return { body, record, signingSecret, timestamp, signatureEncoding };
}

/** The fields that are texts: `--field providerReference=42` is not a number. */
const TEXT_FIELDS = ['providerReference', 'createdAt', 'updatedAt'];

const flagOfField = {
  status: '--status',
  merchantPaymentReference: '--reference',
  referenceNumber: '--reference-number',
};

function readRecord(options: CallbackCall['options']): Readonly<Record<string, unknown>> {
  const own = {
    status: options.status,
    merchantPaymentReference: options.reference,
    referenceNumber: options['reference-number'],
  };
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const empty = given.find(([, value]) => value === '');
  if (empty) throw new UsageError(`${flagOfField[empty[0] as keyof typeof own]} must not be empty`);
  const isText = (name: string) => TEXT_FIELDS.includes(name);
  return {
    ...Object.fromEntries(given),
    ...readFields('--field', options.field, { flagOfField, isText }),
  };
}

async function readBody({ options, terminal }: CallbackCall): Promise<Uint8Array | undefined> {
  const { body, 'body-file': path } = options;
  if (body !== undefined && path !== undefined) {
    throw new UsageError('--body and --body-file both give the body: give one of them');
  }
  if (body !== undefined) return Buffer.from(body);
  if (path === undefined) return undefined;
  return readInput({ option: '--body-file', path, what: 'the body' }, terminal);
}

/** @throws {InvalidOptionError} for an invalid signing secret */
export async function signInput(input: CallbackInput): Promise<SignedCallback> {
  const { body, record, ...signing } = input;
  const { signCallback } = await import('merchant-payments/testing');
  return signCallback({ payment: body ?? record, ...signing });
}

/** A signed callback and where it goes. */
export interface CallbackRequest extends SignedCallback {
  readonly url: URL;
}

/** Longer ones do not fit one argument of a command on Linux. */
const MAX_PASTED_BYTES = 100_000;

/**
 * A curl command that sends the callback, for any shell that is like sh.
 *
 * @throws {UsageError} for a body that no command line carries
 */
export function toCurlCommand({ url, headers, rawBody }: CallbackRequest): string {
  const body = readText(rawBody);
  if (body === undefined || body.includes('\0')) {
    throw new UsageError(
      'this body has bytes that a command line does not carry: use --output json, which has it in base64 too, or --output http',
    );
  }
  if (rawBody.byteLength > MAX_PASTED_BYTES) {
    throw new UsageError(
      `a body of ${rawBody.byteLength} bytes is too long for a command line: use --output json or --output http`,
    );
  }
  // In a URL curl itself gives brackets and braces a meaning.
  const globbing = /[[\]{}]/.test(url.href) ? ' --globoff' : '';
  const lines = [
    `curl${globbing} ${quote(url.href)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`),
    // Not --data-binary: it would read a file for a body that begins with @.
    `  --data-raw ${quote(body)}`,
  ];
  return `${lines.join(' \\\n')}\n`;
}

const quote = (given: string): string => `'${given.replaceAll("'", "'\\''")}'`;

/** The callback as an HTTP/1.1 message, the body as it is. */
export function toHttpMessage({ url, headers, rawBody }: CallbackRequest): Buffer {
  const head = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${rawBody.byteLength}`,
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n')), rawBody]);
}

/** The body for JSON: as text, where it is text, and as base64. */
export function toJsonBody(rawBody: Uint8Array): object {
  const content = readText(rawBody);
  return {
    ...(content !== undefined && { rawBody: content }),
    rawBodyBase64: Buffer.from(rawBody).toString('base64'),
  };
}

/** The callback for JSON. */
export function toJsonCapture({ url, headers, rawBody }: CallbackRequest): object {
  return { method: 'POST', url: url.href, headers, ...toJsonBody(rawBody) };
}

/** The text of a body; `undefined` when it is not UTF-8. */
export function readText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Whether a body can be shown on a terminal as it is, without driving it. */
export function isShowable(body: Uint8Array): boolean {
  const content = readText(body)?.replace(/[\t\r\n]/g, '');
  return content !== undefined && plainText(content) === content;
}
