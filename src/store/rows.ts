import { StoreError } from '../errors.js';
import type { FailedRow } from './backend.js';
import type { Change } from './change.js';
import type { SeenChange } from './change-steps.js';
import type { RowState, SecondRow } from './payment-row.js';
import type { OwnedRow, StoredRecord } from './steps.js';

// Databases return each row as a JSON list, because drivers differ in how they return numbers and times.

const STATES: Readonly<Record<RowState, true>> = {
  recorded: true,
  sending: true,
  created: true,
  unheard: true,
  missed: true,
  rejected: true,
  unresolved: true,
  elsewhere: true,
};

type Column = string | number | null | undefined;
type Mutable<Type> = { -readonly [Field in keyof Type]: Type[Field] };

/** A row of payments. */
export interface KeyedRow {
  readonly key: string;
  readonly row: OwnedRow;
  /** The store's time, in epoch milliseconds. */
  readonly nowMs: number;
}

/** @throws {StoreError} `STORE_FAILED` for anything but a row of payments */
export function parseOwnedRow(json: string): KeyedRow {
  const columns = parse(json, 20);
  const [key, body, digest, state, attempts, recordedAtMs, sentAtMs, changedAtMs, ...rest] =
    columns;
  const [referenceNumber, payment, foundStatus, failure, owner, leaseUntilMs, ...last] = rest;
  const [updatedAtUs, paidBy, lookAtMs, order, replacedBy, nowMs] = last;
  return {
    key: String(key),
    nowMs: Number(nowMs),
    row: {
      body: String(body),
      digest: String(digest),
      state: toState(state),
      attempts: Number(attempts),
      recordedAtMs: Number(recordedAtMs),
      sentAtMs: numberOf(sentAtMs),
      changedAtMs: Number(changedAtMs),
      referenceNumber: textOf(referenceNumber),
      payment: textOf(payment),
      foundStatus: textOf(foundStatus),
      failure: textOf(failure),
      owner: textOf(owner),
      leaseUntilMs: numberOf(leaseUntilMs),
      updatedAtUs: numberOf(updatedAtUs),
      paidBy: textOf(paidBy),
      lookAtMs: numberOf(lookAtMs),
      order: textOf(order),
      replacedBy: textOf(replacedBy),
    },
  };
}

/** The first column of a row that a claim reads. */
export type SeenKind = 'order' | 'change' | 'failure';

/**
 * Parses what a claim reads: the order, the processed changes of the payment, and the change's own failure. Undefined
 * if nothing is stored about the order.
 *
 * @throws {StoreError} `STORE_FAILED` for anything else
 */
export function parseSeenChange(
  rows: readonly string[],
  { key }: Pick<Change, 'key'>,
): SeenChange | undefined {
  const seen: Mutable<SeenChange> = {
    row: undefined,
    isProcessed: false,
    newest: undefined,
    failure: undefined,
    second: undefined,
  };
  for (const json of rows) {
    const [kind, ...columns] = parseList(json);
    if (kind === 'order' && columns.length === 8) seen.row = toOrder(columns);
    else if (kind === 'change' && columns.length === 2) addProcessed(seen, columns, key);
    else if (kind === 'failure' && columns.length === 2) seen.failure = toFailure(columns);
    else throw unknownRow();
  }
  return seen.row === undefined ? undefined : seen;
}

function toOrder([state, referenceNumber, payment, updatedAtUs, ...rest]: readonly Column[]) {
  const [paidBy, body, order, replacedBy] = rest;
  return {
    state: toState(state),
    referenceNumber: textOf(referenceNumber),
    payment: textOf(payment),
    updatedAtUs: numberOf(updatedAtUs),
    paidBy: textOf(paidBy),
    body: String(body),
    order: textOf(order),
    replacedBy: textOf(replacedBy),
  };
}

/** Parses what is stored of a second payment's record; undefined if it is not listed. */
export function parseSecond(json: string | undefined): StoredRecord | undefined {
  if (json === undefined) return undefined;
  const [payment, updatedAtUs] = parse(json, 2);
  return { payment: textOf(payment), updatedAtUs: numberOf(updatedAtUs) };
}

function addProcessed(
  seen: Mutable<SeenChange>,
  [processed, latest]: readonly Column[],
  key: string,
): void {
  seen.isProcessed ||= processed === key;
  const { newest } = seen;
  if (newest === undefined || toBigInt(newest) < toBigInt(latest)) {
    seen.newest = textOf(latest);
  }
}

function toFailure([attempts, parked]: readonly Column[]) {
  return { attempts: Number(attempts), parked: Number(parked) === 1 };
}

function toBigInt(digits: Column): bigint {
  if (/^-?\d+$/.test(String(digits))) return BigInt(String(digits));
  throw unknownRow();
}

export function parseFailedRow(json: string): FailedRow {
  const [merchantPaymentReference, referenceNumber, key, fullNames, occurredAtUs, ...rest] = parse(
    json,
    12,
  );
  const [firstFailedAtMs, lastFailedAtMs, attempts, parked, error, rawBody, nowMs] = rest;
  const [fullMerchantReference, fullReferenceNumber, fullKey] = parseJson(fullNames) as string[];
  return {
    place: {
      atMs: Number(firstFailedAtMs),
      names: [merchantPaymentReference, referenceNumber, key].map(String),
    },
    change: {
      kind: 'failed-change',
      merchantPaymentReference: String(fullMerchantReference),
      since: new Date(Number(firstFailedAtMs)),
      listedAt: new Date(Number(nowMs)),
      referenceNumber: String(fullReferenceNumber),
      key: String(fullKey),
      occurredAt: new Date(Math.floor(Number(occurredAtUs) / 1000)),
      attempts: Number(attempts),
      lastFailedAt: new Date(Number(lastFailedAtMs)),
      parked: Number(parked) === 1,
      error: parseJson(error) as FailedRow['change']['error'],
      ...(textOf(rawBody) !== undefined && {
        rawBody: new Uint8Array(Buffer.from(String(rawBody), 'base64')),
      }),
    },
  };
}

export function parseSecondRow(json: string): SecondRow {
  const [foundAtMs, merchantPaymentReference, referenceNumber, payment, nowMs] = parse(json, 5);
  return {
    place: {
      atMs: Number(foundAtMs),
      names: [merchantPaymentReference, referenceNumber].map(String),
    },
    payment: String(payment),
    listedAtMs: Number(nowMs),
  };
}

/** Parses a list of one column. */
export function parseOne(json: string | undefined): string | undefined {
  if (json === undefined) return undefined;
  const [column] = parse(json, 1);
  return column === null || column === undefined ? undefined : String(column);
}

function parse(json: string | undefined, length: number): readonly Column[] {
  const columns = parseList(json);
  if (columns.length === length) return columns;
  throw unknownRow();
}

function parseList(json: string | undefined): readonly Column[] {
  const columns = parseJson(json);
  if (Array.isArray(columns)) return columns;
  throw unknownRow();
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text.
    throw unknownRow();
  }
}

function toState(column: Column): RowState {
  if (Object.hasOwn(STATES, String(column))) return column as RowState;
  throw unknownRow();
}

function textOf(column: Column): string | undefined {
  return column === null || column === undefined ? undefined : String(column);
}

function numberOf(column: Column): number | undefined {
  return column === null || column === undefined ? undefined : Number(column);
}

export function unknownRow(): StoreError {
  return new StoreError(
    'STORE_FAILED',
    'A table of the store contains a row that this version does not know, so nothing was done; look for a later version of the package, or another program, that uses the same tables',
  );
}
