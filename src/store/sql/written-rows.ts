import type { Intent, PaymentRow, Result } from '../payment-row.js';

// The result of a single statement is known except for the database's time, which this process's clock replaces.

/** The payment that a claim has stored as new. */
export function added({ body, digest }: Intent): PaymentRow {
  const atMs = Date.now();
  return {
    body,
    digest,
    state: 'sending',
    attempts: 1,
    recordedAtMs: atMs,
    sentAtMs: atMs,
    changedAtMs: atMs,
    referenceNumber: undefined,
    payment: undefined,
    foundStatus: undefined,
    failure: undefined,
    order: undefined,
    replacedBy: undefined,
  };
}

/** The stored payment after the end of an attempt to send. */
export function finished(claimed: PaymentRow, result: Result): PaymentRow {
  const changedAtMs = Date.now();
  const { state, failure } = result;
  if (state !== 'created') return { ...claimed, state, failure, changedAtMs };
  const { referenceNumber, payment } = result.serviceRecord;
  return { ...claimed, state, failure, changedAtMs, referenceNumber, payment };
}
