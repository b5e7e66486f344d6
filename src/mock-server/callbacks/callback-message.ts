import { createSecretKey, type KeyObject } from 'node:crypto';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { SIGNATURE_HEADER, type SignatureEncoding, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import type { CallbackFault } from '../faults/fault-types.js';
import { signCallbackBytes } from './sign.js';

/** A callback ready to be sent. */
export interface CallbackMessage {
  readonly timestamp: string;
  readonly signedString: string;
  readonly rawBody: Uint8Array;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

interface MessageInput {
  readonly record: PaymentStatusRecord;
  /** Epoch milliseconds. */
  readonly signedAtMs: number;
  readonly key: KeyObject;
  readonly encoding: SignatureEncoding;
  readonly fault: CallbackFault | undefined;
}

const DEFAULT_SKEW_SECONDS = 600;
const DEFAULT_UNKNOWN_STATUS = 'mock_unknown_status';
const DEFAULT_EXTRA_FIELD = 'mockExtraField';
const DEFAULT_EXTRA_VALUE = 'added by the mock service';

// Not Buffer.from: a small piece of its shared pool would keep the whole of it in memory.
const encoder = new TextEncoder();

const wrongKey = createSecretKey('not the signing secret of any account', 'utf8');

/** Writes and signs a callback (interface sections 4.2 and 5.2), with what `fault` does to it. */
export function createCallbackMessage(input: MessageInput): CallbackMessage {
  const { record, signedAtMs, key, encoding, fault } = input;
  const timestamp = String(Math.floor(signedAtMs / 1000) + timestampShift(fault));
  const signedText = JSON.stringify(changeBeforeSigning(record, fault));
  const signature = signCallbackBytes({
    timestamp,
    body: Buffer.from(signedText),
    key: fault?.type === 'wrong-secret' ? wrongKey : key,
    encoding,
  });
  const headers = {
    'content-type': 'application/json',
    [TIMESTAMP_HEADER]: timestamp,
    [SIGNATURE_HEADER]: signature,
  };
  return {
    timestamp,
    signedString: `${timestamp}.${signedText}`,
    rawBody: encoder.encode(changeAfterSigning(signedText, record, fault)),
    headers: Object.freeze(leaveHeaderOut(headers, fault)),
  };
}

function timestampShift(fault: CallbackFault | undefined): number {
  if (fault?.type === 'stale-timestamp') return -(fault.bySeconds ?? DEFAULT_SKEW_SECONDS);
  if (fault?.type === 'future-timestamp') return fault.bySeconds ?? DEFAULT_SKEW_SECONDS;
  return 0;
}

function changeBeforeSigning(
  record: PaymentStatusRecord,
  fault: CallbackFault | undefined,
): Record<string, unknown> {
  if (fault?.type === 'unknown-status') {
    return { ...record, status: fault.status ?? DEFAULT_UNKNOWN_STATUS };
  }
  if (fault?.type === 'extra-field') {
    const { field = DEFAULT_EXTRA_FIELD, value = DEFAULT_EXTRA_VALUE } = fault;
    return { ...record, [field]: value };
  }
  return { ...record };
}

function changeAfterSigning(
  signedText: string,
  record: PaymentStatusRecord,
  fault: CallbackFault | undefined,
): string {
  if (fault?.type === 'reserialized-body') return JSON.stringify(record, null, 2);
  if (fault?.type !== 'tampered-body') return signedText;
  const merchantPaymentReference = `${record.merchantPaymentReference}-tampered`;
  return JSON.stringify({ ...record, merchantPaymentReference });
}

function leaveHeaderOut(
  headers: Readonly<Record<string, string>>,
  fault: CallbackFault | undefined,
): Record<string, string> {
  if (fault?.type !== 'missing-header') return { ...headers };
  const { header = SIGNATURE_HEADER } = fault;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header));
}
