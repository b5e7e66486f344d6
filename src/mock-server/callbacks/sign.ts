import { createHmac, createSecretKey, KeyObject } from 'node:crypto';
import { InvalidOptionError } from '../../errors.js';
import { invalidOption, secretText } from '../../protocol/options.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { SIGNATURE_HEADER, type SignatureEncoding, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import type { CheckedCallbackFault } from '../faults/fault-list.js';
import type { ResolvedServiceOptions } from '../options.js';
import type { CallbackEdit } from './delivery.js';

interface Signing {
  readonly timestamp: string;
  readonly body: Uint8Array;
  readonly key: KeyObject;
  readonly encoding: SignatureEncoding;
}

// Shares nothing with the verifier: a mistake in one signer for both would go unnoticed. Tests hold both to
// vectors made by openssl and Python.

/** The value of X-Signature: HMAC SHA-256 of `<timestamp>.<body>` (interface section 5.2). */
export function signCallbackBytes({ timestamp, body, key, encoding }: Signing): string {
  return createHmac('sha256', key).update(`${timestamp}.`, 'latin1').update(body).digest(encoding);
}

/** The headers of a callback (interface section 4.2). */
export const signedHeaders = (signing: Signing): Record<string, string> => ({
  'content-type': 'application/json',
  [TIMESTAMP_HEADER]: signing.timestamp,
  [SIGNATURE_HEADER]: signCallbackBytes(signing),
});

/** @throws {InvalidOptionError} naming `option`, never the value, for a secret that no verifier accepts */
export function createSigningKey(option: string, secret: unknown): KeyObject {
  if (typeof secret === 'string') return createSecretKey(secretText(secret, option), 'utf8');
  if (secret instanceof KeyObject) {
    if (secret.type === 'secret' && secret.symmetricKeySize !== 0) return secret;
    throw new InvalidOptionError(
      option,
      `${option} must be a KeyObject of type secret that is not empty; received one of type ${secret.type}`,
    );
  }
  if (ArrayBuffer.isView(secret) && secret.byteLength > 0) return createSecretKey(toBytes(secret));
  throw invalidOption(option, 'a string, a Uint8Array or a KeyObject that is not empty', secret);
}

export const toBytes = (view: ArrayBufferView): Uint8Array<ArrayBuffer> =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();

export interface CallbackMessage {
  readonly timestamp: string;
  readonly signedString: string;
  readonly rawBody: ReturnType<Uint8Array['slice']>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

interface MessageInput {
  readonly record: PaymentStatusRecord;
  readonly settings: ResolvedServiceOptions;
  /** Epoch milliseconds. */
  readonly signedAtMs: number;
  readonly key: KeyObject;
  readonly fault: CheckedCallbackFault | undefined;
  readonly edit: CallbackEdit | undefined;
}

const WRONG_SECRET = 'not the signing secret of any account';

/** Writes and signs a callback (interface sections 4.2 and 5.2), and applies the fault. */
export function createCallbackMessage(input: MessageInput): CallbackMessage {
  const { record, settings, signedAtMs, key, fault, edit } = input;
  const { timestampUnit: unit, signatureEncoding: encoding } = settings;
  const timestamp = String(unit === 'seconds' ? Math.floor(signedAtMs / 1000) : signedAtMs);
  const signedText = edit?.signature === 'new' ? edit.body : JSON.stringify(record);
  const sentText = edit?.body ?? (fault?.type === 'tampered-body' ? tamper(record) : signedText);
  // Not Buffer.from: a small piece of its pool would keep the whole pool in memory.
  const body = new TextEncoder().encode(signedText);
  const headers = signedHeaders({
    timestamp,
    body,
    key: fault?.type === 'wrong-secret' ? createSecretKey(WRONG_SECRET, 'utf8') : key,
    encoding,
  });
  return {
    timestamp,
    signedString: `${timestamp}.${signedText}`,
    rawBody: sentText === signedText ? body : new TextEncoder().encode(sentText),
    headers: Object.freeze(headers),
  };
}

const tamper = (record: PaymentStatusRecord): string =>
  JSON.stringify({
    ...record,
    merchantPaymentReference: `${record.merchantPaymentReference}-tampered`,
  });
