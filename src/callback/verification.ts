import { fieldOf } from '../protocol/own-fields.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import { assertRawBody } from './body.js';
import { type CallbackHeaders, readSignedHeaders } from './headers.js';
import {
  assertRequest,
  type CallbackRequest,
  type ResolvedPolicy,
  type VerifiedCallback,
} from './options.js';
import { decodeBody, parseStatusRecord } from './record.js';
import { parseSignature, signatureMismatch } from './signature.js';
import { assertInsideWindow, parseTimestamp } from './timestamp.js';

// What both verifiers do, in this order: open the request, look for the secret that signed it, read its record.

/** A request that is in time and has a signature, which is still to be checked. */
export interface OpenedCallback {
  readonly body: string | Uint8Array;
  readonly headers: CallbackHeaders;
  /** X-Timestamp as it was signed. */
  readonly timestamp: string;
  readonly sentAtMs: number;
  /** The digest in X-Signature, in lower-case hex. */
  readonly digest: string;
}

/** @throws {CallbackVerificationError} when a header is missing or malformed, or the time is outside the tolerance */
export function openCallback(request: CallbackRequest, policy: ResolvedPolicy): OpenedCallback {
  assertRequest(request, 'rawBody and headers');
  const body = assertRawBody(fieldOf(request, 'rawBody'));
  const headers = fieldOf(request, 'headers') as CallbackHeaders;
  const { timestamp, signature } = readSignedHeaders(headers);
  const sentAtMs = parseTimestamp(timestamp, policy.timestampUnit);
  assertInsideWindow(sentAtMs, policy);
  const digest = parseSignature(signature, policy.signatureEncoding);
  return { body, headers, timestamp, sentAtMs, digest };
}

/** What was signed, and by which secret. */
export interface SignedRecord {
  readonly text: string;
  readonly payment: PaymentStatusRecord;
  readonly sentAtMs: number;
  readonly secretIndex: number;
}

/**
 * @param secretIndex the secret that matched; -1 for none
 * @throws {CallbackVerificationError} `SIGNATURE_MISMATCH`, or `INVALID_RECORD` for a body that is no record
 */
export function readRecord(
  { body, headers, sentAtMs }: OpenedCallback,
  { secretIndex, secretCount }: { readonly secretIndex: number; readonly secretCount: number },
): SignedRecord {
  if (secretIndex === -1) throw signatureMismatch(secretCount, headers);
  const text = typeof body === 'string' ? body : decodeBody(body, headers);
  return { text, payment: parseStatusRecord(text), sentAtMs, secretIndex };
}

export function toVerified(
  { text, payment, sentAtMs, secretIndex }: SignedRecord,
  key: string,
): VerifiedCallback {
  return {
    payment,
    key,
    timestamp: new Date(sentAtMs),
    secretIndex,
    // A copy: its reader may change it, and the request's may change, too.
    rawBody: new TextEncoder().encode(text),
  };
}
