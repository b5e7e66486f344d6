import { StoreError } from '../../errors.js';
import type { FailedRow } from '../backend.js';
import type { Change } from '../change.js';
import type { SeenChange } from '../change-steps.js';
import type { RowState, SecondRow } from '../payment-row.js';
import type { KeyedRow } from '../payment-steps.js';
import type { OwnedRow, StoredRecord } from '../steps.js';
import { COLUMNS } from './sql.js';

// Databases return each row as a JSON list, because drivers differ in how they return numbers and times.

const STATES: ReadonlySet<unknown> = new Set<RowState>([
  ...(['recorded', 'sending', 'created', 'rejected', 'unresolved'] as const),
  ...(['unheard', 'missed', 'elsewhere'] as const),
]);
const FIELDS = Object.keys(COLUMNS);

type Column = string | number | null;
type Columns = readonly (Column | undefined)[];

/** @throws {StoreError} `STORE_FAILED` for anything but a row of payments */
export function parseOwnedRow(json: string): KeyedRow {
  const [key, ...columns] = parse(json, FIELDS.length + 2);
  const row: Record<string, Column | undefined> = {};
  for (const [at, field] of FIELDS.entries()) row[field] = columns[at];
  if (!STATES.has(row['state'])) throw unknownRow();
  return {
    key: String(key),
    row: row as unknown as OwnedRow,
    nowMs: Number(columns[FIELDS.length]),
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
  let row: SeenChange['row'];
  let failure: SeenChange['failure'];
  let newest: string | undefined;
  let isProcessed = false;
  for (const json of rows) {
    const [kind, ...columns] = parse(json);
    if (kind === 'order' && columns.length === 8) row = toOrder(columns);
    else if (kind === 'change' && columns.length === 2) {
      const [processed, latest] = columns;
      isProcessed ||= processed === key;
      newest = later(newest, latest);
    } else if (kind === 'failure' && columns.length === 2) {
      failure = { attempts: Number(columns[0]), parked: Number(columns[1]) === 1 };
    } else throw unknownRow();
  }
  return row && { row, isProcessed, newest, failure, second: undefined };
}

function toOrder(columns: Columns): NonNullable<SeenChange['row']> {
  const [state, referenceNumber, payment, updatedAtUs, ...rest] = columns as readonly string[];
  const [paidBy, body = '', order, replacedBy] = rest;
  if (!STATES.has(state)) throw unknownRow();
  return {
    state: state as RowState,
    referenceNumber,
    payment,
    updatedAtUs: updatedAtUs === undefined ? undefined : Number(updatedAtUs),
    paidBy,
    body,
    order,
    replacedBy,
  };
}

/** The later one of two ranks. */
function later(one: string | undefined, other: Column | undefined): string {
  const rank = String(other);
  if (!/^-?\d+$/.test(rank)) throw unknownRow();
  return one !== undefined && BigInt(one) > BigInt(rank) ? one : rank;
}

/** Parses what is stored of a second payment's record; undefined if it is not listed. */
export function parseSecond(json: string | undefined): StoredRecord | undefined {
  if (json === undefined) return undefined;
  const [payment, updatedAtUs] = parse(json, 2);
  return { payment: payment as string, updatedAtUs: updatedAtUs as number | undefined };
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
  const [foundAtMs, merchantPaymentReference, referenceNumber, payment, nowMs] = parse(json, 5);
  const names = [merchantPaymentReference, referenceNumber].map(String);
  return {
    place: { atMs: Number(foundAtMs), names },
    payment: String(payment),
    listedAtMs: Number(nowMs),
  };
}

/** Parses a list of one column. */
export function parseOne(json: string | undefined): string | undefined {
  const [column] = json === undefined ? [] : parse(json, 1);
  return column === undefined ? undefined : String(column);
}

/** The columns of a row, without NULLs. */
function parse(json: string, length?: number): Columns {
  const columns = parseJson(json);
  const isRow = Array.isArray(columns) && (length === undefined || columns.length === length);
  if (!isRow) throw unknownRow();
  return columns.map((column: Column) => column ?? undefined);
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
  return new StoreError(
    'STORE_FAILED',
    'A table of the store contains a row that this version does not know, so nothing was done; look for a later version of the package, or another program, that uses the same tables',
  );
}
