import type { RawBody } from '../callback/body.js';
import { CallbackVerificationError } from '../errors.js';

/** Caps on a body that comes from outside. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/** The body can't be had: it broke off (400), took too long (408) or is too large (413). */
export class UnreadableBody {
  readonly status: 400 | 408 | 413;

  constructor(status: 400 | 408 | 413) {
    this.status = status;
  }
}

/** @throws {UnreadableBody} 413 when the body is larger than `maxBodyBytes` */
export function assertBodySize(rawBody: RawBody, maxBodyBytes: number): void {
  if (countBytes(rawBody) > maxBodyBytes) throw new UnreadableBody(413);
}

// What is neither text nor bytes is for the verifier to refuse.
function countBytes(rawBody: RawBody): number {
  if (typeof rawBody !== 'string') return rawBody?.byteLength ?? 0;
  let bytes = rawBody.length;
  for (let index = 0; index < rawBody.length; index += 1) {
    const unit = rawBody.charCodeAt(index);
    // In UTF-8 each half of a surrogate pair makes two of its four bytes.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit & 0xf800) !== 0xd800 ? 2 : 1;
  }
  return bytes;
}

export function bodyWasRead(remedy: string): CallbackVerificationError {
  return new CallbackVerificationError(
    'RAW_BODY_REQUIRED',
    `The body had been read or decoded before the request came here, and its bytes, which were signed, are gone. ${remedy}`,
  );
}
