import { createSecretKey, type KeyObject } from 'node:crypto';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import type { CheckedCallbackFault } from '../faults/fault-list.js';
import type { ResolvedServiceOptions } from '../options.js';
import type { CallbackEdit } from './delivery.js';
import { signedHeaders } from './sign.js';
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
