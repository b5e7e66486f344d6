import { parseInstant } from '../protocol/instant.js';
import { parseExactly } from '../protocol/json.js';
import { invalidOption } from '../protocol/options.js';
import { type CreatePaymentInput, isDateTime } from '../protocol/payment.js';
import type { Intent, PaymentRow, ServiceRecord, StoredForms } from './payment-row.js';
import type { PaymentFields, SendFailure, StoredPayment } from './stored-payment.js';

/**
 * Builds the payment to store, from the body of its request. Its JSON always has the fields of the input in the same
 * order.
 *
 * @throws {InvalidOptionError} for a number in `extraBody` that the store can't compare
 */
export function toIntent(
  json: string,
  { toDigest, toName }: StoredForms,
): { readonly key: string; readonly intent: Intent } {
  const { input, extraBody } = readBody(json);
  if (extraBody !== undefined) parseExactly(json, refuseLost);
  const ordered = sorted(extraBody) as object | undefined;
  const body = ordered === undefined ? json : JSON.stringify({ ...input, ...ordered });
  return {
    key: toName(input.merchantPaymentReference),
    intent: { body, digest: toDigest(body) },
  };
}

/** Two of them would look like the same payment, and what is stored would not be what was asked for. */
function refuseLost(): never {
  const expected = 'JSON whose numbers JavaScript holds exactly';
  throw invalidOption('extraBody', expected, null, 'pass the number as a string', 'a raw number');
}

// The order of keys has no meaning, and callers may build `extraBody` in different orders.
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/** Splits a stored body into input and extra fields. */
export function readBody(
  body: string,
): Pick<StoredPayment, 'extraBody'> & { readonly input: CreatePaymentInput } {
  const fields = JSON.parse(body);
  // Most have no extra fields, and the split takes as long as the parser.
  if (Object.keys(fields).length === 3) return { input: fields, extraBody: undefined };
  const { merchantPaymentReference, amount, currency, ...extraBody } = fields;
  return { input: { merchantPaymentReference, amount, currency }, extraBody };
}

/** Returns the names of the fields that differ between two bodies of one reference. */
export function findDifferences(one: string, other: string): string[] {
  const [{ input, extraBody }, second] = [readBody(one), readBody(other)];
  return [
    ...(input.amount === second.input.amount ? [] : ['amount']),
    ...(input.currency === second.input.currency ? [] : ['currency']),
    ...(JSON.stringify(extraBody) === JSON.stringify(second.extraBody) ? [] : ['extraBody']),
  ];
}

/** Converts a complete or partial record. */
export function toServiceRecord(payment: PaymentFields, { toName }: StoredForms): ServiceRecord {
  const { referenceNumber, updatedAt } = payment;
  const isText = typeof referenceNumber === 'string' && referenceNumber !== '';
  return {
    referenceNumber: isText ? toName(referenceNumber) : undefined,
    payment: Object.keys(payment).length === 0 ? undefined : JSON.stringify(payment),
    updatedAtUs: isDateTime(updatedAt) ? toMicroseconds(updatedAt as string) : undefined,
  };
}

function toMicroseconds(text: string): number {
  const { occurredAt, microseconds } = parseInstant(text);
  return occurredAt.getTime() * 1000 + microseconds;
}

/** Converts a stored payment to the public type. */
export function toStoredPayment(
  stored: PaymentRow,
  { replayed, error }: Pick<StoredPayment, 'replayed' | 'error'>,
): StoredPayment {
  const { body, state, attempts, recordedAtMs, sentAtMs, changedAtMs, failure } = stored;
  const payment = stored.payment === undefined ? undefined : JSON.parse(stored.payment);
  // Without a body, another program has created the payment, and its callbacks have a record.
  const { input, extraBody } = body === '' ? {} : readBody(body);
  const reference: string = (input ?? payment)?.merchantPaymentReference;
  const { order, replacedBy } = stored;
  return {
    merchantPaymentReference: reference,
    order: order === undefined ? reference : JSON.parse(order),
    ...(replacedBy !== undefined && { replacedBy: JSON.parse(replacedBy) }),
    state,
    ...(payment !== undefined && { payment }),
    replayed,
    ...(input !== undefined && { input }),
    ...(extraBody !== undefined && { extraBody }),
    attempts,
    recordedAt: new Date(recordedAtMs),
    ...(sentAtMs !== undefined && { sentAt: new Date(sentAtMs) }),
    changedAt: new Date(changedAtMs),
    ...(failure !== undefined && { failure: JSON.parse(failure) as SendFailure }),
    ...(error !== undefined && { error }),
  } as StoredPayment;
}
