import { describeQuantity } from '../protocol/describe-value.js';
import { invalidOption, isWholeNumberIn, text, wholeNumbersIn } from '../protocol/options.js';
import { fieldOf, fieldOfAny } from '../protocol/own-fields.js';
import type { Decision, StoredForms } from './payment-row.js';
import type { Resolution, SeenPayment } from './payment-store.js';
import { toFinding } from './records.js';

/** @throws {InvalidOptionError} when the resolution is invalid */
export function toDecision(
  merchantPaymentReference: string,
  resolution: Resolution,
  forms: StoredForms,
): Decision {
  if (resolution === 'not-created') return { state: 'rejected', failure: undefined };
  const created = fieldOfAny(resolution, 'created');
  if (typeof created !== 'object' || created === null) {
    const expected = "'not-created' or { created: { referenceNumber } }";
    const remedy = 'pass it to resolve() after the reference';
    throw invalidOption('as', expected, resolution, remedy);
  }
  const referenceNumber = text(fieldOf(created, 'referenceNumber'), 'as.created.referenceNumber');
  return {
    state: 'created',
    finding: toFinding({ merchantPaymentReference, referenceNumber }, forms),
  };
}

const ATTEMPTS = { unit: 'attempts' };

/** @throws {InvalidOptionError} when the attempts are missing or invalid */
export function readAttempts(seen: SeenPayment): number {
  const attempts = fieldOfAny(seen, 'attempts');
  if (isWholeNumberIn(attempts, ATTEMPTS)) return attempts;
  throw invalidOption(
    'seen.attempts',
    wholeNumbersIn(ATTEMPTS),
    attempts,
    'pass the attempts of the payment that was looked up, as attention() lists it',
    describeQuantity(attempts),
  );
}
