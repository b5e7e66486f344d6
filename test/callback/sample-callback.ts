import { createHmac } from 'node:crypto';
import type { CallbackRequest } from '../../src/callback/options.js';
import { CallbackVerificationError, InvalidOptionError } from '../../src/errors.js';
import type { PaymentStatusRecord } from '../../src/protocol/payment.js';

export const SECRET = 'whsec_9c1f0ab7';
export const OTHER_SECRET = 'whsec_of_another_account';
/** 2026-01-31T12:00:05Z; the clock of every test stands here unless it says otherwise. */
export const NOW_SECONDS = 1_769_860_805;
export const now = () => NOW_SECONDS * 1000;

export type Encoding = 'hex' | 'base64' | 'base64url';

export function sampleRecord(fields: Record<string, unknown> = {}): PaymentStatusRecord {
  return {
    referenceNumber: '5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90',
    merchantPaymentReference: 'order-1001',
    providerReference: 'prov-77',
    status: 'paid',
    createdAt: '2026-01-31T12:00:00.000+00:00',
    updatedAt: '2026-01-31T12:00:05.000+00:00',
    ...fields,
  };
}

/** The signature by node:crypto over one joined buffer: its own code, not the package's. */
export function sign(
  body: string | Uint8Array,
  {
    secret = SECRET,
    timestamp = String(NOW_SECONDS),
    encoding = 'hex',
  }: {
    secret?: string | Uint8Array | undefined;
    timestamp?: string | undefined;
    encoding?: Encoding | undefined;
  } = {},
): string {
  const message = Buffer.concat([Buffer.from(`${timestamp}.`), Buffer.from(body)]);
  return createHmac('sha256', secret).update(message).digest(encoding);
}

export interface SampleRequest extends CallbackRequest {
  rawBody: string | Uint8Array;
  headers: { 'x-timestamp': string; 'x-signature': string };
}

/** A callback that verifies under `SECRET` at `now`, unless told otherwise. */
export function sampleRequest({
  body = JSON.stringify(sampleRecord()),
  ...how
}: {
  body?: string | Uint8Array;
  secret?: string | Uint8Array;
  timestamp?: string;
  encoding?: Encoding;
} = {}): SampleRequest {
  return {
    rawBody: body,
    headers: {
      'x-timestamp': how.timestamp ?? String(NOW_SECONDS),
      'x-signature': sign(body, how),
    },
  };
}

/** What `run` throws or rejects with; a run that succeeds fails the test. */
export async function failureOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure, but it succeeded');
}

/** As {@link failureOf}, for a callback that must be refused. */
export async function refusalOf(run: () => unknown): Promise<CallbackVerificationError> {
  const error = await failureOf(run);
  if (error instanceof CallbackVerificationError) return error;
  throw error;
}

/** As {@link failureOf}, for an option that must be refused. */
export async function optionErrorOf(run: () => unknown): Promise<InvalidOptionError> {
  const error = await failureOf(run);
  if (error instanceof InvalidOptionError) return error;
  throw error;
}
