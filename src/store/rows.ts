import { StoreError } from '../errors.js';
import type { OutboxState } from './outbox.js';
import type { OwnedPayment } from './steps.js';
import type { StoredSecondPayment } from './store.js';

const STATES: Readonly<Record<OutboxState, true>> = {
  recorded: true,
  sending: true,
  created: true,
  rejected: true,
  unresolved: true,
};

type Column = string | number | null | undefined;

/** A row with the fields that only the store sees. */
export interface OwnedRow {
  readonly key: string;
  readonly row: OwnedPayment;
  /** The store's time, in epoch milliseconds. */
  readonly nowMs: number;
}

/**
 * Parses a row of payments, which databases return as a JSON list in the order of `Statements`.
 *
 * @throws {StoreError} `STORE_FAILED` for anything else
 */
export function parseOwnedRow(json: string): OwnedRow {
  const columns: readonly Column[] = JSON.parse(json);
  const [key, body, digest, state, attempts, recordedAtMs, sentAtMs, changedAtMs, ...rest] =
    columns;
  const [referenceNumber, payment, failure, owner, leaseUntilMs, updatedAtUs, nowMs] = rest;
  if (!Object.hasOwn(STATES, String(state)) || rest.length !== 7) throw unknownRow();
  return {
    key: String(key),
    nowMs: Number(nowMs),
    row: {
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
      owner: orNothing(owner, String),
      leaseUntilMs: orNothing(leaseUntilMs, Number),
      updatedAtUs: orNothing(updatedAtUs, Number),
    },
  };
}

/** Parses rows of second payments: key, body, reference number, record and the time when it was found. */
export function parseSecondPayments(rows: readonly string[]): readonly StoredSecondPayment[] {
  return rows.map((json) => {
    const [key, body, referenceNumber, payment, foundAtMs]: readonly Column[] = JSON.parse(json);
    return {
      key: String(key),
      body: String(body),
      referenceNumber: String(referenceNumber),
      payment: String(payment),
      foundAtMs: Number(foundAtMs),
    };
  });
}

/** Parses a list of one time. */
export function parseTime(json: string): number | undefined {
  const [time]: readonly Column[] = JSON.parse(json);
  return orNothing(time, Number);
}

function orNothing<Value>(column: Column, read: (column: Column) => Value): Value | undefined {
  return column === null || column === undefined ? undefined : read(column);
}

function unknownRow(): StoreError {
  return new StoreError(
    'STORE_FAILED',
    "The outbox's table contains a row that this version does not know; look for a later version of the package that uses the same table",
  );
}
