import { createSecretKey, type KeyObject } from 'node:crypto';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import type { SignatureEncoding, TimestampUnit } from '../../protocol/wire.js';
import type { CheckedCallbackFault } from '../faults/fault-list.js';
import type { CallbackEdit } from './delivery.js';
import { signedHeaders } from './sign.js';

// A symbol, since attempts take over the message's fields and users print those.
export const SIGNED_AT_MS = Symbol('signedAtMs');

/** A callback that is ready to send. */
export interface CallbackMessage {
  readonly timestamp: string;
  /** When it was signed, in epoch milliseconds: `timestamp` unless a fault shifted that. */
  readonly [SIGNED_AT_MS]: number;
  readonly signedString: string;
  readonly rawBody: ReturnType<Uint8Array['slice']>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

interface MessageInput {
  readonly record: PaymentStatusRecord;
  /** Epoch milliseconds. */
  readonly signedAtMs: number;
  readonly key: KeyObject;
  readonly encoding: SignatureEncoding;
  readonly unit: TimestampUnit;
  readonly fault: CheckedCallbackFault | undefined;
  readonly edit: CallbackEdit | undefined;
}

const WRONG_SECRET = 'not the signing secret of any account';

/** Writes and signs a callback (interface sections 4.2 and 5.2), and applies the fault. */
export function createCallbackMessage(input: MessageInput): CallbackMessage {
  const { record, signedAtMs, key, encoding, unit, fault, edit } = input;
  const signedAt = signedAtMs + timestampShift(fault) * 1000;
  const timestamp = String(unit === 'seconds' ? Math.floor(signedAt / 1000) : signedAt);
  const signedText =
    edit?.signature === 'new' ? edit.body : JSON.stringify(changeBeforeSigning(record, fault));
  const sentText = edit?.body ?? changeAfterSigning(signedText, record, fault);
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
    [SIGNED_AT_MS]: signedAtMs,
    signedString: `${timestamp}.${signedText}`,
    rawBody: sentText === signedText ? body : new TextEncoder().encode(sentText),
    headers: Object.freeze(omitHeader(headers, fault)),
  };
}

function timestampShift(fault: CheckedCallbackFault | undefined): number {
  if (fault?.type === 'stale-timestamp') return -fault.bySeconds;
  return fault?.type === 'future-timestamp' ? fault.bySeconds : 0;
}

function changeBeforeSigning(
  record: PaymentStatusRecord,
  fault: CheckedCallbackFault | undefined,
): Record<string, unknown> {
  if (fault?.type === 'unknown-status') return { ...record, status: fault.status };
  if (fault?.type === 'missing-field') {
    const { [fault.field]: _missing, ...others } = record;
    return fault.as === 'null' ? { ...record, [fault.field]: null } : others;
  }
  if (fault?.type === 'extra-field') return { ...record, [fault.field]: fault.value };
  return { ...record };
}

function changeAfterSigning(
  signedText: string,
  record: PaymentStatusRecord,
  fault: CheckedCallbackFault | undefined,
): string {
  if (fault?.type === 'reserialized-body') return JSON.stringify(record, null, 2);
  if (fault?.type !== 'tampered-body') return signedText;
  const merchantPaymentReference = `${record.merchantPaymentReference}-tampered`;
  return JSON.stringify({ ...record, merchantPaymentReference });
}

function omitHeader(
  headers: Readonly<Record<string, string>>,
  fault: CheckedCallbackFault | undefined,
): Record<string, string> {
  const missing = fault?.type === 'missing-header' ? fault.header : undefined;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== missing));
}
