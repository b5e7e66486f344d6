import { CallbackVerificationError, describeIssues, type Issue } from '../errors.js';
import {
  findStatusRecordIssues,
  leaveOutUnusable,
  type PaymentStatusRecord,
} from '../protocol/payment.js';
import { issuesOf, type StandardSchemaResult, toIssues } from '../protocol/standard-schema.js';
import { type CallbackHeaders, findContentEncoding } from './headers.js';

/**
 * Parses the text of an authentic body as a status record (interface section 2.2). The record is the result
 * of JSON.parse: unknown fields are kept, and nothing is converted. Fields by which nothing is decided are left out
 * where they are of another type.
 *
 * @throws {CallbackVerificationError} `INVALID_RECORD`
 */
export function parseStatusRecord(text: string): PaymentStatusRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw invalidRecord([{ path: [], message: 'the body must be JSON, but it does not parse' }]);
  }
  const issues = findStatusRecordIssues(value);
  if (issues !== undefined) throw invalidRecord(issues);
  return leaveOutUnusable(value as PaymentStatusRecord);
}

// Created at the first callback: jest-environment-jsdom has no TextDecoder, and must be able to load the
// package. Without `fatal` an invalid byte would become U+FFFD, and without `ignoreBOM` a byte order mark would
// vanish, so that the record would differ from the bytes that were signed.
let decoder: InstanceType<typeof TextDecoder> | undefined;

/**
 * @param headers the request's, for the error
 * @throws {CallbackVerificationError} `INVALID_RECORD` when the bytes are not UTF-8
 */
export function decodeBody(bytes: Uint8Array, headers: CallbackHeaders = {}): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    const encoding = findContentEncoding(headers);
    const compressed =
      encoding === undefined ? '' : `: it has content-encoding ${encoding}, and was signed so`;
    throw invalidRecord([
      { path: [], message: `the body must be UTF-8, but it has invalid bytes${compressed}` },
    ]);
  }
}

/**
 * Accepts any thenable: a promise of another realm or library, treated as a result, would look like one without
 * issues.
 */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

export function assertSchemaAccepts(result: StandardSchemaResult<unknown>): void {
  const issues = issuesOf(result);
  if (issues !== undefined) throw invalidRecord(toIssues(issues));
}

export function invalidRecord(issues: readonly Issue[]): CallbackVerificationError {
  return new CallbackVerificationError(
    'INVALID_RECORD',
    `The callback is authentic, but its body is not a payment status record: ${describeIssues(issues)}`,
    { issues },
  );
}
