import type { SignatureEncoding } from 'merchant-payments/callback';
import type { SignedCallback } from 'merchant-payments/testing';
import { plainText } from '../protocol/plain-text.js';
import { readInput } from './capture.js';
import { type Call, list, parsed, text, UsageError } from './command.js';
import { parseWholeNumber, readFields } from './option-values.js';
import {
  requireSigningSecret,
  signatureEncodingOption,
  signingSecretOption,
} from './shared-options.js';

/** The latest second that a Date holds. */
const LATEST_SECOND = 8_640_000_000_000;

/** The options of the commands that make a callback. */
export const callbackOptions = {
  status: text({ value: 'status', help: 'The status. Default: paid' }),
  reference: text({ value: 'text', help: "The merchant's own reference. Default: a random one" }),
  'reference-number': text({
    value: 'uuid',
    help: "The service's identifier of the payment. Default: a random one",
  }),
  field: list({
    value: 'name=value',
    help: 'Another field of the record, or an additional one. The value is JSON, or text if it is not JSON.',
  }),
  body: text({ value: 'text', help: 'The whole body, in place of a record.' }),
  'body-file': text({
    value: 'file',
    help: 'A file with the exact bytes of the whole body; - for standard input.',
  }),
  'signing-secret': signingSecretOption,
  timestamp: parsed(
    { value: 'seconds', help: 'X-Timestamp, in Unix seconds. Default: now' },
    (name, given) => parseWholeNumber(name, given, { min: 0, max: LATEST_SECOND }),
  ),
  'signature-encoding': signatureEncodingOption,
};

/** A callback to make. */
export interface CallbackInput {
  /** The whole body, if it is given. */
  readonly body: Uint8Array | undefined;
  /** The given fields of the record. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly signingSecret: string;
  /** In Unix seconds; `undefined` for now. */
  readonly timestamp: number | undefined;
  readonly signatureEncoding: SignatureEncoding;
}

type CallbackCall = Call<typeof callbackOptions>;

/** @throws {UsageError} for options that are invalid or conflict */
export async function readCallbackInput(call: CallbackCall): Promise<CallbackInput> {
  const { options, terminal } = call;
  const signingSecret = requireSigningSecret(options['signing-secret'], terminal);
  const record = readRecord(options);
  const body = await readBody(call);
  if (body !== undefined && Object.keys(record).length > 0) {
    throw new UsageError(
      '--body and --body-file replace the record: leave out --status, --reference, --reference-number and --field',
    );
  }
  const { timestamp, 'signature-encoding': signatureEncoding } = options;
  return { body, record, signingSecret, timestamp, signatureEncoding };
}

/** Fields that are always text: `--field providerReference=42` is not a number. */
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

/** A signed callback and its destination. */
export interface CallbackRequest extends SignedCallback {
  readonly url: URL;
}

/** Linux limits one argument of a command to 128 KiB, quotes included. */
const MAX_PASTED_BYTES = 100_000;

/**
 * Writes a curl command that sends the callback, for POSIX shells.
 *
 * @throws {UsageError} for a body that no command line can hold
 */
export function toCurlCommand({ url, headers, rawBody }: CallbackRequest): string {
  const body = readText(rawBody);
  if (body === undefined || body.includes('\0')) {
    throw new UsageError(
      "the body has bytes that a command line can't hold: use --output json, which has them in base64, or --output http",
    );
  }
  if (rawBody.byteLength > MAX_PASTED_BYTES) {
    throw new UsageError(
      `a body of ${rawBody.byteLength} bytes is too long for a command line: use --output json or --output http`,
    );
  }
  // curl expands brackets and braces in a URL.
  const globbing = /[[\]{}]/.test(url.href) ? ' --globoff' : '';
  const lines = [
    // -i, since answers to callbacks have no body.
    `curl -i${globbing} ${quote(url.href)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`),
    // Not --data-binary: it would read a file for a body that begins with @.
    `  --data-raw ${quote(body)}`,
  ];
  return `${lines.join(' \\\n')}\n`;
}

const quote = (given: string): string => `'${given.replaceAll("'", "'\\''")}'`;

/** Writes the callback as an HTTP/1.1 message with the exact body. */
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

/** Returns the body for JSON: in base64, and as text if it is text. */
export function toJsonBody(rawBody: Uint8Array): object {
  const content = readText(rawBody);
  return {
    ...(content !== undefined && { rawBody: content }),
    rawBodyBase64: Buffer.from(rawBody).toString('base64'),
  };
}

/** Returns the callback for JSON. */
export function toJsonCapture({ url, headers, rawBody }: CallbackRequest): object {
  return { method: 'POST', url: url.href, headers, ...toJsonBody(rawBody) };
}

/** Decodes a body; `undefined` if it is not UTF-8. */
export function readText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Whether a terminal can show a body unescaped, with no control characters in it. */
export function isPrintable(body: Uint8Array): boolean {
  const content = readText(body)?.replace(/[\t\r\n]/g, '');
  return content !== undefined && plainText(content) === content;
}
