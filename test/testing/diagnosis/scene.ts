import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { VerifyCallbackOptions } from '../../../src/callback/index.js';
import {
  type CallbackDiagnosis,
  type CallbackFindingCode,
  diagnoseCallback,
} from '../../../src/testing/index.js';
import { NOW_SECONDS, now, SECRET, sampleRecord, sign } from '../../callback/sample-callback.js';

export { NOW_SECONDS, now, SECRET, sampleRecord, sign };
export const TIMESTAMP = String(NOW_SECONDS);
export const COMPACT = JSON.stringify(sampleRecord());

export interface Case {
  /** The body that was signed. */
  signed?: string | Uint8Array;
  /** The body as it was captured; the signed one unless given. */
  rawBody?: unknown;
  /** The key that signed. */
  key?: string | Uint8Array;
  timestamp?: string;
  /** The value of X-Signature; made of the above unless given. */
  signature?: unknown;
  headers?: Record<string, unknown>;
  options?: Partial<VerifyCallbackOptions>;
}

/** A callback that is right but for what the case says, and its diagnosis. */
export function diagnose({
  signed = COMPACT,
  rawBody = signed,
  key = SECRET,
  timestamp = TIMESTAMP,
  signature = sign(signed, { secret: key, timestamp }),
  headers = { 'x-timestamp': timestamp, 'x-signature': signature },
  options = {},
}: Case): CallbackDiagnosis {
  return diagnoseCallback({ rawBody, headers } as never, {
    signingSecret: SECRET,
    now,
    ...options,
  });
}

export function codesOf({ findings }: CallbackDiagnosis): readonly CallbackFindingCode[] {
  return findings.map(({ code }) => code);
}

/** The callback is refused, its signature is explained, and these are all the findings. */
export function expectExplained(
  diagnosis: CallbackDiagnosis,
  ...codes: readonly CallbackFindingCode[]
): void {
  expect(codesOf(diagnosis)).toEqual(codes);
  expect(diagnosis).toMatchObject({ verified: false, secretIndex: expect.any(Number) });
  expect(diagnosis).not.toHaveProperty('payment');
}

/** HMAC of any text under any hash, by node:crypto. */
export function hmac(
  text: string | Uint8Array,
  { key = SECRET, algorithm = 'sha256' }: { key?: string | Uint8Array; algorithm?: string } = {},
): Buffer {
  return createHmac(algorithm, key).update(text).digest();
}
