import { StoreError } from '../errors.js';
import { innermostError } from '../store/providers/driver-errors.js';

// A digit is required, because EPIPE has five letters too.
const SQL_STATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of a driver's error, such as `25P02`; undefined if the error is not from Postgres. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && SQL_STATE.test(code) ? code : undefined;
}

// The server has become a standby or refuses writes, or a cached plan is for an older schema. A new
// connection may reach another server, and has no cached plans.
const READ_ONLY = '25006';
const FEATURE_NOT_SUPPORTED = '0A000';

/** Whether further statements on the same connection would fail too. */
export function spoilsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === READ_ONLY || state === FEATURE_NOT_SUPPORTED;
}

// Postgres ends the connection, possibly after a COMMIT.
const CONNECTION_ENDED = /^(?:08|57P0)/;
/**
 * The SQLSTATEs with which recording fails outside the claim's transaction: that of our function and,
 * without functions, that of `width_bucket`, which nothing else raises.
 */
export const OUTSIDE_CLAIM: readonly unknown[] = ['MP001', '2201G'];

/** Finds the innermost error of Postgres among those that ORMs wrap; otherwise returns the error unchanged. */
export function databaseErrorOf(error: unknown): unknown {
  const isOfServer = (inner: unknown): boolean => sqlStateOf(inner) !== undefined;
  return innermostError(error, isOfServer, (found, { code }) =>
    sqlStateOf({ code }) === undefined ? found : Object.assign(found, { code }),
  );
}

const IDLE_TOO_LONG = '25P03';
const IN_FAILED_TRANSACTION = '25P02';

/** Explains the error of recording the event or of the COMMIT after it. */
export function explainFailedEnd(error: unknown): unknown {
  if (error instanceof StoreError && error.code === 'STORE_TIMEOUT') return error;
  const state = sqlStateOf(error);
  if (state === undefined || CONNECTION_ENDED.test(state)) return endUnknown(error);
  // Postgres had ended the session before the statement reached it.
  if (state === IDLE_TOO_LONG) return connectionLost(error);
  if (state === IN_FAILED_TRANSACTION) return transactionAborted(error);
  return OUTSIDE_CLAIM.includes(state) ? transactionEnded() : error;
}

/** The error for a transaction that is not at READ COMMITTED. */
export function wrongIsolation(orm: string, isolation: string): StoreError {
  return new StoreError(
    'STORE_FAILED',
    `${orm} began the transaction at ${isolation.toUpperCase()}, so nothing was processed; it must be READ COMMITTED, or a transaction that waited for another one would not see its writes. Look for an option of the ORM that sets the level of every transaction`,
  );
}

export function noConnectionInTime(acquireTimeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The pool provided no connection within acquireTimeoutMs (${acquireTimeoutMs} ms), so nothing was processed; make the pool larger, find what holds its connections, or set the pool's connectionTimeoutMillis: without it, a connection that is never established keeps its place in the pool`,
  );
}

export function noAnswerInTime(timeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `Postgres did not answer within ${timeoutMs} ms, so the connection was closed and nothing was processed; check the server and the network, or raise commandTimeoutMs`,
  );
}

export function noEndOfWorkInTime(timeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The transaction was not over within transactionTimeoutMs (${timeoutMs} ms), so the connection was closed; nothing was recorded, and a later delivery runs the work again. Give the statements of your work a deadline (the pool's query_timeout), or raise transactionTimeoutMs`,
  );
}

const UNKNOWN_END =
  'whether it was recorded is unknown. The service retries: the retry is a duplicate if it was recorded, and runs the work again if not';

export function noEndInTime(timeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `Postgres did not answer COMMIT within commandTimeoutMs (${timeoutMs} ms), so the connection was closed; ${UNKNOWN_END}`,
  );
}

function endUnknown(cause: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `The connection to Postgres was lost while the change was being recorded; ${UNKNOWN_END}`,
    // If a loss was already described, keep only the driver's error.
    { cause: cause instanceof StoreError ? cause.cause : cause },
  );
}

/** The ORM has reported a commit that Postgres does not confirm. */
export function unconfirmedEnd(cause?: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `Postgres did not confirm the COMMIT of the transaction; ${UNKNOWN_END}`,
    { cause },
  );
}

/** Whether an error may mean that the connection was lost; the codes are those of postgres.js. */
export function mayBeLoss(error: unknown): boolean {
  if (error instanceof StoreError && error.code === 'STORE_TIMEOUT') return true;
  const found = databaseErrorOf(error);
  if (isConnectionEnd(sqlStateOf(found))) return true;
  const { code, cause } = (found ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return [code, cause?.code].some(
    (one) => typeof one === 'string' && /^(?:CONNECTION_|E[A-Z]+$)/.test(one),
  );
}

function isConnectionEnd(state: string | undefined): boolean {
  return state !== undefined && (CONNECTION_ENDED.test(state) || state === IDLE_TOO_LONG);
}

/** Explains the error of a statement that records the event, before COMMIT was sent. */
export function explainFailedRecord(error: unknown): unknown {
  const state = sqlStateOf(error);
  return state === undefined || isConnectionEnd(state)
    ? connectionLost(error)
    : explainFailedEnd(error);
}

export function connectionLost(cause: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'The connection to Postgres was lost while the work was running, and its transaction with it; nothing was recorded, and a later delivery runs the work again. Stop the work when its signal aborts, and let it send a statement on tx at least every idleTimeoutMs: waiting for a second connection of a full pool takes longer',
    { cause },
  );
}

export function transactionGone(): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'The transaction ended at Postgres while the work was running: its connection was lost, or a statement failed and the work continued; nothing was recorded, and a later delivery runs the work again. Stop the work when its signal aborts',
  );
}

export function transactionEnded(): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'The work ended the transaction it was given (COMMIT or ROLLBACK); nothing was recorded, and a later delivery runs the work again. Let the inbox end the transaction: throw to undo everything, use SAVEPOINT and ROLLBACK TO SAVEPOINT to undo a part',
  );
}

export function transactionAborted(cause?: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'A statement of the work failed and the work continued, but Postgres rolls back the whole transaction after a failed statement; nothing was recorded, and a later delivery runs the work again. Let the error through, or set a SAVEPOINT before a statement that may fail, and send ROLLBACK TO SAVEPOINT if it does',
    { cause },
  );
}
