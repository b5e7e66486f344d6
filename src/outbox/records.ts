import { hash } from 'node:crypto';
import { parseInstant } from '../protocol/instant.js';
import { isDateTime, type PaymentStatusRecord } from '../protocol/payment.js';
import { toStoredName } from '../storage/stored-name.js';
import type { OutboxFailure, OutboxPayment, SecondPayment } from './outbox.js';
import type { Finding, Intent, StoredPayment, StoredSecondPayment } from './store.js';

type PaymentFields = Partial<PaymentStatusRecord> & Record<string, unknown>;

/** What to store for the body of a creation. */
export function toIntent(json: string): Intent {
  const body = JSON.stringify(sorted(JSON.parse(json)));
  return { body, digest: hash('sha256', body, 'base64url') };
}

// The order of keys says nothing: `extraBody` may be put together in another one.
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/** What a stored body was made from. */
export function readBody(body: string): Pick<OutboxPayment, 'input' | 'extraBody'> {
  const { merchantPaymentReference, amount, currency, ...extraBody } = JSON.parse(body);
  const input = { merchantPaymentReference, amount, currency };
  return Object.keys(extraBody).length === 0 ? { input } : { input, extraBody };
}

/** What a record, whole or in part, says of a payment. */
export function toFinding(payment: PaymentFields): Finding {
  const { referenceNumber, updatedAt } = payment;
  return {
    referenceNumber: isText(referenceNumber) ? toStoredName(referenceNumber) : undefined,
    payment: Object.keys(payment).length === 0 ? undefined : JSON.stringify(payment),
    updatedAtUs: isDateTime(updatedAt) ? toMicroseconds(updatedAt as string) : undefined,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function toMicroseconds(text: string): number {
  const { occurredAt, microseconds } = parseInstant(text);
  return occurredAt.getTime() * 1000 + microseconds;
}

/** What users see of a stored payment. */
export function toOutboxPayment(
  stored: StoredPayment,
  { replayed, error }: Pick<OutboxPayment, 'replayed' | 'error'>,
): OutboxPayment {
  const { body, state, attempts, recordedAtMs, sentAtMs, changedAtMs, payment, failure } = stored;
  const read = readBody(body);
  return {
    merchantPaymentReference: read.input.merchantPaymentReference,
    state,
    ...(payment !== undefined && { payment: JSON.parse(payment) as PaymentFields }),
    replayed,
    ...read,
    attempts,
    recordedAt: new Date(recordedAtMs),
    ...(sentAtMs !== undefined && { sentAt: new Date(sentAtMs) }),
    changedAt: new Date(changedAtMs),
    ...(failure !== undefined && { failure: JSON.parse(failure) as OutboxFailure }),
    ...(error !== undefined && { error }),
  };
}

/** What users see of a second payment. */
export function toSecondPayment(stored: StoredSecondPayment): SecondPayment {
  const { body, foundAtMs } = stored;
  const payment = JSON.parse(stored.payment);
  return {
    merchantPaymentReference: readBody(body).input.merchantPaymentReference,
    referenceNumber: payment.referenceNumber,
    payment,
    foundAt: new Date(foundAtMs),
  };
}
