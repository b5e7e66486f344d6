import type { SignatureEncoding } from 'merchant-payments/testing';
import { readList, readText } from '../arguments.js';
import { readInput } from '../capture/input.js';
import { type Arguments, type OptionSpec, type Terminal, UsageError } from '../command.js';
import { parseJsonOrText, parseOneOf, parsePair, parseWholeNumber } from '../option-values.js';
import { readSigningSecret, signingSecretOption } from '../signing-secret.js';

/** What says which callback is made, for the commands that make one. */
export const callbackOptions: Readonly<Record<string, OptionSpec>> = {
  status: { type: 'string', value: 'status', help: 'The status. Default: paid' },
  reference: {
    type: 'string',
    value: 'text',
    help: "The merchant's own reference. Default: a made up one",
  },
  'reference-number': {
    type: 'string',
    value: 'uuid',
    help: "The service's identifier of the payment. Default: a made up one",
  },
  field: {
    type: 'string',
    multiple: true,
    value: 'name=value',
    help: 'Another field of the record, or a further one: JSON, or text where it is none.',
  },
  body: { type: 'string', value: 'text', help: 'The whole body, instead of a record.' },
  'body-file': {
    type: 'string',
    value: 'file',
    help: 'A file with the whole body, taken as its bytes are; - for standard input.',
  },
  'signing-secret': signingSecretOption,
  timestamp: {
    type: 'string',
    value: 'seconds',
    help: 'X-Timestamp, in Unix seconds. Default: now',
  },
  'signature-encoding': {
    type: 'string',
    value: 'hex|base64|base64url',
    help: 'Encoding of the signature. Default: hex',
  },
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

/** The latest second that a Date holds. */
const LATEST_SECOND = 8_640_000_000_000;

/** @throws {UsageError} for options that can't be right, or contradict each other */
export async function readCallbackInput(
  given: Arguments,
  terminal: Terminal,
): Promise<CallbackInput> {
  const signingSecret = readSigningSecret(given, terminal);
  const record = readRecord(given);
  const timestamp = readText(given, 'timestamp');
  const encoding = readText(given, 'signature-encoding') ?? 'hex';
  const input = {
    record,
    signingSecret,
    timestamp:
      timestamp === undefined
        ? undefined
        : parseWholeNumber('--timestamp', timestamp, { min: 0, max: LATEST_SECOND }),
    signatureEncoding: parseOneOf('--signature-encoding', encoding, ['hex', 'base64', 'base64url']),
  };
  const body = await readBody(given, terminal);
  if (body !== undefined && Object.keys(record).length > 0) {
    throw new UsageError(
      'a whole body leaves no room for --status, --reference, --reference-number and --field: give either',
    );
  }
  return { ...input, body };
}

/** The fields that are texts: `--field providerReference=42` is no number. */
const TEXT_FIELDS = new Set(['providerReference', 'createdAt', 'updatedAt']);

const flagOfField: Readonly<Record<string, string>> = {
  status: '--status',
  merchantPaymentReference: '--reference',
  referenceNumber: '--reference-number',
};

function readRecord(given: Arguments): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  for (const [name, flag] of Object.entries(flagOfField)) {
    const text = readText(given, flag.slice(2));
    if (text === '') throw new UsageError(`${flag} must not be empty`);
    if (text !== undefined) fields.set(name, text);
  }
  for (const pair of readList(given, 'field')) {
    const { name, value } = parsePair('--field', pair);
    const flag = Object.hasOwn(flagOfField, name) ? flagOfField[name] : undefined;
    if (flag !== undefined) throw new UsageError(`--field ${name} is given by ${flag}`);
    if (fields.has(name)) throw new UsageError(`--field ${name} was given twice`);
    fields.set(name, TEXT_FIELDS.has(name) ? value : parseJsonOrText(`--field ${name}`, value));
  }
  return Object.fromEntries(fields);
}

async function readBody(given: Arguments, terminal: Terminal): Promise<Uint8Array | undefined> {
  const text = readText(given, 'body');
  const path = readText(given, 'body-file');
  if (text !== undefined && path !== undefined) {
    throw new UsageError('--body and --body-file both give the body: give one of them');
  }
  if (text !== undefined) return Buffer.from(text);
  if (path === undefined) return undefined;
  return readInput({ option: '--body-file', path, what: 'the body' }, terminal);
}
