import type { StoreError } from '../../errors.js';
import type { FailedRow } from '../backend.js';
import type { Change } from '../change.js';
import type { SeenChange } from '../change-steps.js';
import { failed } from '../errors.js';
import type { RowState, SecondRow } from '../payment-row.js';
import type { KeyedRow } from '../payment-steps.js';
import type { OwnedRow, StoredRecord } from '../steps.js';
import { COLUMNS, ORDER_FIELDS } from './sql.js';

// Databases return each row as a JSON list, because drivers differ in how they return numbers and times.

const STATES: ReadonlySet<unknown> = new Set<RowState>([
  ...(['recorded', 'sending', 'created', 'rejected', 'unresolved'] as const),
  ...(['unheard', 'missed', 'elsewhere'] as const),
]);
const FIELDS = Object.keys(COLUMNS);

type Column = string | number | null;
type Columns = readonly (Column | undefined)[];

/** @throws {StoreError} `STORE_FAILED` for a payment in a state that is unknown */
export function parseOwnedRow(json: string): KeyedRow {
  const columns = parse(json);
  const row: OwnedRow = toRow(FIELDS, columns);
  return { key: String(columns[0]), row, nowMs: Number(columns[FIELDS.length + 1]) };
}

/** The fields are those of the columns after the first. */
function toRow<Row>(fields: readonly string[], columns: Columns): Row {
  const row: Record<string, Column | undefined> = {};
  for (let at = 0; at < fields.length; at += 1) row[fields[at] as string] = columns[at + 1];
  if (!STATES.has(row['state'])) throw unknownRow();
  return row as Row;
}

/**
 * Parses what was read: the order, with whether the work of one of its changes has ever failed; the processed changes of
 * the payment; and the change's own failure. Undefined if nothing is stored about the order.
 *
 * @throws {StoreError} `STORE_FAILED` for an order in a state that is unknown
 */
export function parseSeenChange(
  rows: readonly string[],
  { key }: Pick<Change, 'key'>,
): (SeenChange & { readonly hasFailed: boolean }) | undefined {
  let row: SeenChange['row'];
  let failure: SeenChange['failure'];
  let newest: string | undefined;
  let isProcessed = false;
  let hasFailed = false;
  for (const json of rows) {
    const columns = parse(json);
    const [kind, first, second] = columns;
    if (kind === 'order') {
      row = toRow(ORDER_FIELDS, columns);
      hasFailed = columns[ORDER_FIELDS.length + 1] === 1;
    } else if (kind === 'change') {
      isProcessed ||= first === key;
      newest = later(newest, String(second));
    } else failure = { attempts: Number(first), parked: Number(second) === 1 };
  }
  return row && { row, isProcessed, newest, failure, second: undefined, hasFailed };
}

/** The later one of two ranks. */
function later(one: string | undefined, other: string): string {
  return one !== undefined && BigInt(one) > BigInt(other) ? one : other;
}

/** Parses what is stored of a second payment's record; undefined if it is not listed. */
export function parseSecond(json: string | undefined): StoredRecord | undefined {
  if (json === undefined) return undefined;
  const [payment, updatedAtUs] = parse(json);
  return { payment: payment as string, updatedAtUs: updatedAtUs as number | undefined };
}

export function parseFailedRow(json: string): FailedRow {
  const [merchantPaymentReference, referenceNumber, key, fullNames, ...rest] = parse(json);
  const [occurredAtUs, firstFailedAtMs, lastFailedAtMs, attempts, parked, ...more] = rest;
  const [error, rawBody, nowMs] = more;
  const [fullMerchantReference, fullReferenceNumber, fullKey] = parseJson(fullNames) as string[];
  return {
    place: {
      atMs: Number(firstFailedAtMs),
      names: [merchantPaymentReference, referenceNumber, key].map(String),
    },
    item: {
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
      error: parseJson(error) as FailedRow['item']['error'],
      ...(rawBody !== undefined && {
        rawBody: new Uint8Array(Buffer.from(String(rawBody), 'base64')),
      }),
    },
  };
}

export function parseSecondRow(json: string): SecondRow {
  const [foundAtMs, merchantPaymentReference, referenceNumber, payment, nowMs] = parse(json);
  const names = [merchantPaymentReference, referenceNumber].map(String);
  return {
    place: { atMs: Number(foundAtMs), names },
    payment: String(payment),
    listedAtMs: Number(nowMs),
  };
}

/** Parses a list of one column. */
export function parseOne(json: string | undefined): string | undefined {
  const [column] = json === undefined ? [] : parse(json);
  return column === undefined ? undefined : String(column);
}

/** The columns of a row, without NULLs. */
function parse(json: string): Columns {
  const columns = parseJson(json) as readonly Column[];
  return columns.map((column) => column ?? undefined);
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text.
    throw unknownRow();
  }
}

export function unknownRow(): StoreError {
  return failed(
    'A row of the store is unknown to this version, so nothing was done; look for a later version of the package in use',
  );
}
