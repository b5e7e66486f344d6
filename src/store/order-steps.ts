import type {
  Attempt,
  Claim,
  Intent,
  Order,
  PaymentRow,
  Recording,
  Refused,
  Statuses,
  StoredForms,
} from './payment-row.js';
import { readBody } from './records.js';
import { type OwnedRow, type RowChange, visible } from './steps.js';

// The decisions about the attempts at an order. The order's row is that of its first reference.

/** Whether another attempt stands in place of this one, or may: its customer was told that the payment was declined. */
export function isOver(stored: PaymentRow, declined: Statuses): boolean {
  return stored.replacedBy !== undefined || isDeclined(stored, declined);
}

/** Whether the customer may try again. */
export function isDeclined({ state, payment }: PaymentRow, declined: Statuses): boolean {
  if (state !== 'created' || payment === undefined) return false;
  return declined.has(JSON.parse(payment).status);
}

export interface OrderRow extends Attempt {
  readonly row: OwnedRow;
}

/** The order of these rows, in their order. Undefined if the first one is a later attempt, whose reference is no order's. */
export function toOrder(rows: readonly OrderRow[]): Order | undefined {
  const [first, ...later] = rows;
  const latest = rows.at(-1);
  if (first === undefined || latest === undefined || first.row.order !== undefined)
    return undefined;
  // The payment that has paid the order is on its first row too.
  const payer = later.find(({ row }) => row.paidBy !== undefined);
  const paid = payer ?? (first.row.paidBy === undefined ? undefined : first);
  return { latest, paid, count: rows.length };
}

export type NewAttempt = Pick<Recording, 'key' | 'intent'>;

/** What a call for an order means: the attempt that has paid it, the latest one, or a further one, by its number. */
type Meant =
  | { readonly is: 'paid'; readonly attempt: Attempt }
  | { readonly is: 'open'; readonly attempt: NewAttempt }
  | { readonly is: 'over'; readonly replaces: string; toAttempt(number: number): NewAttempt };

export function nextAttempt(
  { latest, paid, count }: Order,
  wanted: NewAttempt,
  declined: Statuses,
  forms: StoredForms,
): Meant {
  const isTriedAgain = isDeclined(latest.stored, declined);
  if (count === 1 && !isTriedAgain) return { is: 'open', attempt: wanted };
  if (paid !== undefined) return { is: 'paid', attempt: paid };
  const order = referenceOf(wanted.intent);
  const replaces = count === 1 ? order : referenceOf(latest.stored);
  if (!isTriedAgain) return { is: 'open', attempt: rename(wanted.intent, replaces, forms) };
  const toAttempt = (number: number) => rename(wanted.intent, `${order}-${number}`, forms);
  return { is: 'over', replaces, toAttempt };
}

export function referenceOf({ body }: Pick<Intent, 'body'>): string {
  return readBody(body).input.merchantPaymentReference;
}

/** The same payment under another reference. */
function rename(
  { body }: Intent,
  reference: string,
  { toName, toDigest }: StoredForms,
): NewAttempt {
  const renamed = JSON.stringify({ ...JSON.parse(body), merchantPaymentReference: reference });
  return { key: toName(reference), intent: { body: renamed, digest: toDigest(renamed) } };
}

/** Why an attempt may not be replaced by one under a reference that is free; undefined if it may. `paidBy` is the order's. */
export function refuse(
  row: OwnedRow,
  paidBy: string | undefined,
  nowMs: number,
): Refused | undefined {
  const stored = visible(row, nowMs);
  if (stored === undefined) return 'unknown';
  if (row.replacedBy !== undefined) return 'replaced';
  if (paidBy !== undefined) return 'paid';
  return stored.state === 'sending' || stored.state === 'unresolved' ? 'open' : undefined;
}

/** What becomes of an attempt that is replaced: it is never sent any more. */
export function replaced({ state }: OwnedRow, replacedBy: string): RowChange {
  return state === 'recorded' ? { replacedBy, state: 'rejected' } : { replacedBy };
}

/** Whether an attempt is not to be sent, or repeated, because another one has paid the order. */
export function isPaidByAnother(
  { state }: OwnedRow,
  paidBy: string | undefined,
  { isRepetition }: Pick<Claim, 'isRepetition'>,
): boolean {
  if (paidBy === undefined) return false;
  if (isRepetition) return state === 'unresolved';
  return state === 'recorded' || state === 'rejected';
}
