import { InvalidOptionError, StoreError } from '../errors.js';
import type { Intent, PaymentRow, Recorded, Recording, Refused } from './payment-row.js';
import { findDifferences } from './records.js';

// No message contains the reference: it is part of the request, and may name a customer.

const conflict = (text: string) => new StoreError('REFERENCE_CONFLICT', text);
const changed = (text: string) => new StoreError('STATE_CHANGED', text);

/** Makes the errors of a setup, a database or the work, which a developer meets first: the page says more. */
const described =
  (code: StoreError['code']) =>
  (text: string, cause?: unknown): StoreError =>
    new StoreError(code, `${text} (docs/errors.md#stores)`, { cause });

export const missing = described('MISSING_TABLES');
export const late = described('STORE_TIMEOUT');
export const failed = described('STORE_FAILED');
export const lost = described('TRANSACTION_LOST');

/** @param fields - the names of the fields that differ */
const referenceConflict = (fields: readonly string[]) =>
  conflict(
    `Another payment is stored under this merchantPaymentReference: ${fields.join(', ')} ${fields.length === 1 ? 'differs' : 'differ'}. Nothing was sent. Use one reference per payment; only a rejected payment may be corrected`,
  );

/** The reference of a further attempt, which is no order's. */
export const referenceOfAttempt = () =>
  conflict(
    'This merchantPaymentReference is that of a further attempt at an order. Nothing was sent. Use the reference of the order, or pass replaces',
  );

export const unknownReference = () =>
  new StoreError(
    'UNKNOWN_REFERENCE',
    'The store has no payment with this merchantPaymentReference. Record it first, and commit the transaction before you send it; it may have been pruned',
  );

const REASONS: Readonly<Record<Exclude<Refused, 'unknown'>, string>> = {
  paid: 'an attempt has paid its order: show that payment, by getOrder()',
  open: 'the service may still create the attempt: wait for its callback, or for recover() and attention()',
  replaced: 'another attempt has replaced it (replacedBy): show that one, or replace it',
  'in-use': 'the new merchantPaymentReference is in use by another payment: take another one',
};

/** @param replacedBy - JSON of the reference of the attempt that has replaced it */
export function notReplaceable(refused: Refused, replacedBy?: string): StoreError {
  if (refused === 'unknown') return unknownReference();
  return new StoreError('NOT_REPLACEABLE', `Nothing was sent or replaced: ${REASONS[refused]}`, {
    reason: refused,
    ...(replacedBy !== undefined && { replacedBy: JSON.parse(replacedBy) }),
  });
}

type Stored = Pick<PaymentRow, 'state' | 'attempts'>;

export const notUnresolved = ({ state }: Stored) =>
  changed(
    `The payment is '${state}', and markCreated() takes only an unresolved one. Nothing was changed. Read it again with get()`,
  );

/** @param seen - the attempts with which it was listed */
export const movedOn = ({ state, attempts }: Stored, seen: number) =>
  changed(
    `The payment has changed since it was listed with ${counted(seen)}: it is '${state}' with ${counted(attempts)}. Nothing was changed. Read the list again with attention()`,
  );

const counted = (attempts: number) => (attempts === 1 ? '1 attempt' : `${attempts} attempts`);

/** @param leftMs - how long the service may still act on the request, in milliseconds */
export const tooEarly = (leftMs: number) =>
  changed(
    `The item was listed while the service could still create its payment. Nothing was changed. Read the list again with attention()${leftMs > 0 ? ` in ${Math.ceil(leftMs / 1000)} s` : ''}, then look the payment up at the service again`,
  );

export const itemChanged = () =>
  changed(
    'The item has changed since it was listed, and was not discarded. List it again with attention(), and look at it again',
  );

export const lifetimeTooShort = (requestLifetimeMs: number, leaseMs: number) =>
  new InvalidOptionError(
    'requestLifetimeMs',
    `requestLifetimeMs must be at least leaseMs (${leaseMs}); received ${requestLifetimeMs}: a request may be sent for as long as its lease lasts. Raise requestLifetimeMs, or lower leaseMs`,
  );

export const timeoutTooLong = (timeoutMs: number, requestLifetimeMs: number) =>
  new InvalidOptionError(
    'timeoutMs',
    `timeoutMs plus 10 s must be at most requestLifetimeMs (${requestLifetimeMs}); received a timeoutMs of ${timeoutMs}. Lower it, or raise the store's requestLifetimeMs`,
  );

export const notSentInTime = () =>
  late(
    'The payment was not sent: the store, or this process, took longer than the lease. It stays recorded. Find what blocks it, or raise leaseMs',
  );

export const notGranted = () =>
  late(
    'The payment was not sent: the store let no call claim it within timeoutMs. Call again, or find what else sends or changes this payment',
  );

export const outcomeNotStored = (what: string, cause: unknown) =>
  failed(
    `The attempt to send the payment ended (${what}), but that could not be stored. Its callback settles it: use no other reference`,
    cause,
  );

/** @throws {StoreError} when it was refused, or another payment is stored under its reference */
export function assertRecorded({ key, replaces }: Recording, recorded: Recorded): void {
  const { refused, stored, replacedBy } = recorded;
  // A call for an order that was paid just then records nothing, as if it had come later.
  if (refused === 'paid' && replaces === undefined) return;
  if (refused !== undefined) throw notReplaceable(refused, replacedBy);
  const isAttempt = stored?.order !== undefined && recorded.key === key;
  if (isAttempt && replaces === undefined) throw referenceOfAttempt();
  assertSame(stored, recorded.intent);
}

/** @throws {StoreError} when both are known and differ */
export function assertSame(stored: Intent | undefined, intent: Intent | undefined): void {
  if (isSame(stored, intent)) return;
  throw referenceConflict(findDifferences((stored as Intent).body, (intent as Intent).body));
}

/** Whether they are the same payment, or one of them is not known, like that of a payment known from callbacks alone. */
export function isSame(one: Intent | undefined, other: Intent | undefined): boolean {
  if (one === undefined || other === undefined) return true;
  return one.digest === '' || one.digest === other.digest;
}

const neverSent = new WeakSet<object>();

/** Whether a step failed before anything reached the server, so that there is nothing to undo. */
export function wasNeverSent(error: unknown): boolean {
  return neverSent.has(error as object);
}

export function unsent(error: StoreError): StoreError {
  neverSent.add(error);
  return error;
}
