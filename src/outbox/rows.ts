import { OutboxError } from '../errors.js';
import type { OutboxState } from './outbox.js';
import type { OwnedPayment } from './steps.js';
import type { Listed, StoredSecondPayment } from './store.js';

const STATES: Readonly<Record<OutboxState, true>> = {
  recorded: true,
  sending: true,
  created: true,
  rejected: true,
  unresolved: true,
};

type Column = string | number | null | undefined;

/**
 * Parses a row of payments, which databases return as a JSON list: key, body, digest, state, attempts, the times
 * of recording, sending and change, reference number, record and failure.
 *
 * @throws {OutboxError} `STORE_FAILED` for anything else
 */
export function parseRow(json: string): Listed {
  return toListed(JSON.parse(json));
}

/** Parses a list of such rows. */
export function parseRows(json: string): readonly Listed[] {
  return (JSON.parse(json) as Column[][]).map(toListed);
}

/** A row with the fields that only the store sees. */
export interface OwnedRow {
  readonly key: string;
  readonly row: OwnedPayment;
  /** The store's time, in epoch milliseconds. */
  readonly nowMs: number;
}

/** Parses a longer row, followed by owner, end of the lease, time of the record and current time. */
export function parseOwnedRow(json: string): OwnedRow {
  const columns = JSON.parse(json) as Column[];
  const { key, stored } = toListed(columns.slice(0, ROW_LENGTH));
  const [owner, leaseUntilMs, updatedAtUs, nowMs] = columns.slice(ROW_LENGTH);
  const row = {
    ...stored,
    owner: orNothing(owner, String),
    leaseUntilMs: orNothing(leaseUntilMs, Number),
    updatedAtUs: orNothing(updatedAtUs, Number),
  };
  return { key, row, nowMs: Number(nowMs) };
}

const ROW_LENGTH = 11;

function toListed(columns: readonly Column[]): Listed {
  const [key, body, digest, state, attempts, recordedAtMs, sentAtMs, changedAtMs, ...rest] =
    columns;
  const [referenceNumber, payment, failure] = rest;
  if (!Object.hasOwn(STATES, String(state)) || rest.length !== 3) throw unknownRow();
  return {
    key: String(key),
    stored: {
      body: String(body),
      digest: String(digest),
      state: state as OutboxState,
      attempts: Number(attempts),
      recordedAtMs: Number(recordedAtMs),
      sentAtMs: orNothing(sentAtMs, Number),
      changedAtMs: Number(changedAtMs),
      referenceNumber: orNothing(referenceNumber, String),
      payment: orNothing(payment, String),
      failure: orNothing(failure, String),
    },
  };
}

/** Parses a JSON list of lists: key, body, reference number, record and the time when it was found. */
export function parseSecondPayments(json: string): readonly StoredSecondPayment[] {
  return (JSON.parse(json) as Column[][]).map(
    ([key, body, referenceNumber, payment, foundAtMs]) => ({
      key: String(key),
      body: String(body),
      referenceNumber: String(referenceNumber),
      payment: String(payment),
      foundAtMs: Number(foundAtMs),
    }),
  );
}

function orNothing<Value>(column: Column, read: (column: Column) => Value): Value | undefined {
  return column === null || column === undefined ? undefined : read(column);
}

function unknownRow(): OutboxError {
  return new OutboxError(
    'STORE_FAILED',
    "The outbox's table contains a row that this version does not know; look for a later version of the package that uses the same table",
  );
}
