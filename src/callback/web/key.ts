import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { decideCallbackKey, toDigestKey } from '../key.js';

/**
 * Resolves with the key of a status change, the same as the synchronous `callbackKey` returns.
 *
 * @throws {CallbackVerificationError} `INVALID_RECORD` when referenceNumber, status or updatedAt is missing
 */
export async function callbackKey(payment: PaymentStatusRecord): Promise<string> {
  const form = decideCallbackKey(payment);
  if (form.digestOf === undefined) return form.key;
  const text = new TextEncoder().encode(form.digestOf);
  return toDigestKey(encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', text))));
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
