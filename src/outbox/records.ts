import { hash } from 'node:crypto';
import { parseInstant } from '../protocol/instant.js';
import { isDateTime, type PaymentStatusRecord, statusRecordFields } from '../protocol/payment.js';
import { toStoredName } from '../storage/stored-name.js';
import type { OutboxFailure, OutboxPayment, SecondPayment } from './outbox.js';
import type { Finding, Intent, StoredPayment, StoredSecondPayment } from './store.js';

type PaymentFields = Partial<PaymentStatusRecord> & Record<string, unknown>;

/** What to store for a creation, whose JSON has the input's fields in one order always. */
export function toIntent(json: string, extraBody: Record<string, unknown> | undefined): Intent {
  const body = extraBody === undefined ? json : inOrder(json);
  return { body, digest: hash('sha256', body, 'base64url') };
}

function inOrder(json: string): string {
  const { input, extraBody } = readBody(json);
  return JSON.stringify({ ...input, ...(sorted(extraBody) as object | undefined) });
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
  const fields = JSON.parse(body);
  // Most have no others, and the split takes as long as the parser.
  if (Object.keys(fields).length === 3) return { input: fields };
  const { merchantPaymentReference, amount, currency, ...extraBody } = fields;
  return { input: { merchantPaymentReference, amount, currency }, extraBody };
}

/** The names of what differs between two bodies of one reference. */
export function findDifferences(one: string, other: string): string[] {
  const [{ input, extraBody }, second] = [readBody(one), readBody(other)];
  return [
    ...(input.amount === second.input.amount ? [] : ['amount']),
    ...(input.currency === second.input.currency ? [] : ['currency']),
    ...(JSON.stringify(extraBody) === JSON.stringify(second.extraBody) ? [] : ['extraBody']),
  ];
}

/** What a record, whole or in part, says of a payment. */
export function toFinding(payment: PaymentFields): Finding {
  const { referenceNumber, updatedAt } = payment;
  return {
    referenceNumber: isText(referenceNumber) ? toStoredName(referenceNumber) : undefined,
    payment: Object.keys(payment).length === 0 ? undefined : toJson(payment),
    updatedAtUs: isDateTime(updatedAt) ? toMicroseconds(updatedAt as string) : undefined,
  };
}

function toJson(payment: PaymentFields): string {
  try {
    return JSON.stringify(payment);
  } catch {
    // Nested more deeply than it can be written. That the payment exists is stored all the same.
    const known = statusRecordFields.filter((field) => isText(payment[field]));
    return JSON.stringify(Object.fromEntries(known.map((field) => [field, payment[field]])));
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function toMicroseconds(text: string): number {
  const { occurredAt, microseconds } = parseInstant(text);
  return occurredAt.getTime() * 1000 + microseconds;
}

/** What is known beside what is stored. */
type Known = Pick<OutboxPayment, 'replayed' | 'error' | 'payment'>;

function readJson(text: string | undefined): PaymentFields | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/** What users see of a stored payment. */
export function toOutboxPayment(
  stored: StoredPayment,
  { replayed, error, payment = readJson(stored.payment) }: Known,
): OutboxPayment {
  const { body, state, attempts, recordedAtMs, sentAtMs, changedAtMs, failure } = stored;
  const read = readBody(body);
  return {
    merchantPaymentReference: read.input.merchantPaymentReference,
    state,
    ...(payment !== undefined && { payment }),
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
