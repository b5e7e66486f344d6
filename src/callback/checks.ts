import { SECONDS_END } from '../protocol/instant.js';
import { invalidOption } from '../protocol/options.js';
import {
  findStatusRecordIssues,
  leaveOutUnusable,
  type PaymentStatusRecord,
} from '../protocol/payment.js';
import { type StandardSchemaResult, toIssues } from '../protocol/standard-schema.js';
import {
  type SignatureEncoding,
  signatureEncodings,
  type TimestampUnit,
} from '../protocol/wire.js';
import { assertRawBody } from './body.js';
import { type CallbackHeaders, findContentEncoding, readSigningHeaders } from './headers.js';
import type { CallbackRequest, ResolvedPolicy, VerifiedCallback } from './options.js';
import {
  invalidHeader,
  invalidRecord,
  outsideWindow,
  signatureMismatch,
  unusableBody,
} from './refusals.js';

// The checks of a callback (interface section 5.2), in their order. Both verifiers make all of them, and look for the
// secret that signed the callback after `checkHeaders` and before `readSigned`. Each refuses by an error of refusals.ts.

/** The request of a verifier: its body is text or bytes, and its headers pass. */
export function openRequest(request: CallbackRequest, policy: ResolvedPolicy) {
  assertRequest(request, 'rawBody and headers');
  const body = assertRawBody(request.rawBody);
  return { body, signing: checkHeaders(request.headers, policy) };
}

/** @throws {InvalidOptionError} when `request` is not an object */
export function assertRequest(request: unknown, holds: string): void {
  if (typeof request === 'object' && request !== null) return;
  throw invalidOption('request', `an object with ${holds}`, request);
}

/** What the headers say. The signature is still to be checked. */
export interface SigningHeaders {
  /** As received, for the errors. */
  readonly headers: CallbackHeaders;
  /** X-Timestamp as it was signed. */
  readonly timestamp: string;
  readonly sentAtMs: number;
  /** The digest in X-Signature, in lower-case hex. */
  readonly digest: string;
}

/** What needs no body: both headers are there, the time is inside the window, and the signature is a digest. */
export function checkHeaders(headers: unknown, policy: ResolvedPolicy): SigningHeaders {
  const { timestamp, signature } = readSigningHeaders(headers);
  const sentAtMs = parseTimestamp(timestamp, policy.timestampUnit);
  assertInsideWindow(sentAtMs, policy);
  const digest = parseSignature(signature, policy.signatureEncoding);
  return { headers: headers as CallbackHeaders, timestamp, sentAtMs, digest };
}

/** A callback whose secret was found, and its body as text: unlike its bytes, text can't be changed afterwards. */
export interface Verification {
  readonly callback: VerifiedCallback;
  readonly text: string;
}

/**
 * What follows: a secret matches, the body is UTF-8, and a payment's status record.
 *
 * @param match the index of the secret that matches, -1 for none, and how many there are
 */
export function readSigned(
  body: string | Uint8Array,
  { headers }: SigningHeaders,
  match: { readonly secretIndex: number; readonly of: number },
): { readonly text: string; readonly payment: PaymentStatusRecord } {
  if (match.secretIndex === -1) throw signatureMismatch(match.of, findContentEncoding(headers));
  const text = typeof body === 'string' ? body : decodeBody(body, headers);
  return { text, payment: parseStatusRecord(text) };
}

// Enough for any instant, and few enough to be exact as a number.
const DIGITS = /^\d{1,15}$/;

/** X-Timestamp in epoch milliseconds. Digits only: the header's own text was signed, so nothing is repaired. */
export function parseTimestamp(text: string, unit: TimestampUnit): number {
  if (!DIGITS.test(text)) {
    const why = `a Unix timestamp in ${unit}, digits only; received ${text.length} characters`;
    throw invalidHeader('X-Timestamp', why);
  }
  const value = Number(text);
  const looksLike = value < SECONDS_END ? 'seconds' : 'milliseconds';
  if (looksLike === unit) return unit === 'seconds' ? value * 1000 : value;
  throw invalidHeader(
    'X-Timestamp',
    `a Unix timestamp in ${unit}; the value looks like ${looksLike}: if the service sends ${looksLike}, set timestampUnit: '${looksLike}'`,
  );
}

/** Both times are truncated to whole seconds, the header's resolution, and the limit is inclusive. */
export function assertInsideWindow(
  sentAtMs: number,
  {
    now,
    receivedAt,
    toleranceSeconds,
  }: Omit<ResolvedPolicy, 'signatureEncoding' | 'timestampUnit'>,
): void {
  const nowMs = receivedAt?.getTime() ?? now();
  const skewSeconds = Math.floor(nowMs / 1000) - Math.floor(sentAtMs / 1000);
  // Written so that a clock that returns NaN leads to a refusal.
  if (Math.abs(skewSeconds) <= toleranceSeconds) return;
  const clock = receivedAt === undefined ? "this machine's clock" : 'receivedAt';
  throw outsideWindow(skewSeconds, toleranceSeconds, clock);
}

// Of 32 bytes.
const DIGESTS: Readonly<Record<SignatureEncoding, RegExp>> = {
  hex: /^[0-9a-fA-F]{64}$/,
  base64: /^[A-Za-z0-9+/]{43}=?$/,
  base64url: /^[A-Za-z0-9_-]{43}=?$/,
};

/**
 * The digest in X-Signature in lower-case hex. The interface leaves the encoding open (section 5.2, point 5); length
 * and alphabet identify it.
 */
export function parseSignature(text: string, allowed: SignatureEncoding | 'auto'): string {
  for (const encoding of signatureEncodings) {
    if ((allowed !== 'auto' && allowed !== encoding) || !DIGESTS[encoding].test(text)) continue;
    return encoding === 'hex' ? text.toLowerCase() : base64ToHex(text);
  }
  const encodings = allowed === 'auto' ? 'hex, base64 or base64url' : allowed;
  const why = `a SHA-256 digest in ${encodings}; received ${text.length} characters that are none of these`;
  throw invalidHeader('X-Signature', why);
}

function base64ToHex(text: string): string {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

// Created at the first callback: jest-environment-jsdom has no TextDecoder, and must be able to load the
// package. Without `fatal` an invalid byte would become U+FFFD, and without `ignoreBOM` a byte order mark would
// vanish, so that the record would differ from the bytes that were signed.
let decoder: InstanceType<typeof TextDecoder> | undefined;

/** @param headers the request's, for the error */
export function decodeBody(bytes: Uint8Array, headers: CallbackHeaders = {}): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    const encoding = findContentEncoding(headers);
    const compressed = encoding ? `: it has content-encoding ${encoding}, and was signed so` : '';
    throw unusableBody(`must be UTF-8, but it has invalid bytes${compressed}`);
  }
}

/**
 * The status record in the text of an authentic body (interface section 2.2), as JSON.parse makes it: unknown fields
 * are kept, and nothing is converted. Fields by which nothing is decided are left out where they are of another type.
 */
export function parseStatusRecord(text: string): PaymentStatusRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw unusableBody('must be JSON, but it does not parse');
  }
  const issues = findStatusRecordIssues(value);
  if (issues !== undefined) throw invalidRecord(issues);
  return leaveOutUnusable(value as PaymentStatusRecord);
}

/** Passes on what the merchant's schema found. */
export function assertSchemaAccepts({ issues }: StandardSchemaResult<unknown>): void {
  if (issues !== undefined) throw invalidRecord(toIssues(issues));
}
