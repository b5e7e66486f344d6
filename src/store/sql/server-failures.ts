import { InvalidOptionError, MerchantPaymentsError, StoreError } from '../../errors.js';
import { nameFailure } from '../../protocol/describe-value.js';
import { failed, late, lost, missing, unsent, wasNeverSent } from '../errors.js';
import { connectErrorOf } from '../providers/driver-errors.js';

export type ErrorCode = string | number;

/** What the codes of a server mean. */
export interface ErrorCodes {
  /** The database, a table or a column does not exist. */
  readonly missing: readonly ErrorCode[];
  /** The role lacks a right. */
  readonly denied: readonly ErrorCode[];
  /** A lock was not granted in time. */
  readonly lockTimeout: readonly ErrorCode[];
  /** Another transaction has won a deadlock. */
  readonly deadlock: readonly ErrorCode[];
  /** A statement was rolled back for a reason that may be over. */
  readonly undone: readonly ErrorCode[];
  /** Further statements on the connection would fail too, but not on another one, perhaps to another server. */
  readonly spoils: readonly ErrorCode[];
  /** A statement of the transaction has failed before. */
  readonly aborted: readonly ErrorCode[];
  /** The transaction, or the savepoint of the work, is no longer there. */
  readonly ended: readonly ErrorCode[];
}

/** What differs between the errors of database servers. */
export interface ServerWords {
  /** The server's code of an error; undefined if the error is not from the server. */
  codeOf(error: unknown): ErrorCode | undefined;
  /** Whether the server has ended the connection with this error, possibly after a COMMIT. */
  endsConnection(error: unknown): boolean;
  /** Finds the server's error in that of an ORM, without the statement; otherwise returns the error unchanged. */
  databaseErrorOf(error: unknown): unknown;
  /** A server's error as it may be shown: without what repeats references or a part of a body. */
  toShow(error: Error): Error;
  readonly codes: ErrorCodes;
  /** How messages name it. */
  readonly name: string;
  /** A further remedy when the pool returns no connection in time. */
  readonly poolRemedy: string;
  /** How statements of the work get a deadline. */
  readonly deadlineRemedy: string;
  /** How the work may have ended its transaction. */
  readonly endedBy: string;
  /** Where the SQL of the tables is. */
  readonly schema: string;
  /** What to do about a refusal, if that is known: a sentence. */
  remedyFor(error: unknown): string | undefined;
}

const UNKNOWN_END =
  'whether it was recorded is unknown: the retry is a duplicate, or runs it again';
const RUN_AGAIN = 'nothing was recorded; the retry runs it again';
const REPEAT = 'It is unknown whether the step was done; it is safe to repeat it';

/** The errors of one kind of database server: what they mean, and how users are told. */
export class ServerFailures {
  readonly #words: ServerWords;

  constructor(words: ServerWords) {
    this.#words = words;
  }

  /** Whether the connection is lost after this error: its next answer may belong to an earlier statement. */
  losesConnection(error: unknown): boolean {
    return this.#words.codeOf(error) === undefined || this.#words.endsConnection(error);
  }

  /** Whether no other transaction should use the connection after this error. */
  spoilsConnection(error: unknown): boolean {
    const found = this.#words.databaseErrorOf(error);
    if (this.#words.codeOf(found) === undefined) return false;
    return this.is('spoils', found) || this.#words.endsConnection(found);
  }

  /** Whether a transaction failed because the connection was lost, or could not be made. */
  isLost(error: unknown): boolean {
    if (error instanceof StoreError) {
      if (error.code === 'TRANSACTION_LOST') return true;
      return error.code === 'STORE_FAILED' && wasNeverSent(error) && this.isLost(error.cause);
    }
    return !isProgramError(error) && this.losesConnection(this.#words.databaseErrorOf(error));
  }

  /** Whether a statement was rolled back for a reason that may be over. */
  isUndone(error: unknown): boolean {
    return this.is('undone', error);
  }

  is(kind: keyof ErrorCodes, error: unknown): boolean {
    const code = this.#words.codeOf(this.#words.databaseErrorOf(error));
    return code !== undefined && this.#words.codes[kind].includes(code);
  }

  /** An error as it may be shown: drivers and ORMs add the statement, which contains the request body. */
  causeOf(error: unknown): Error {
    if (error instanceof MerchantPaymentsError || error instanceof TypeError) return error;
    const found = this.#words.databaseErrorOf(error);
    if (this.#words.codeOf(found) !== undefined) return this.#words.toShow(found as Error);
    return new Error(`the driver failed${nameFailure(error)}`);
  }

  readonly noConnectionInTime = (acquireTimeoutMs: number): StoreError =>
    unsent(
      late(
        `The pool provided no connection within acquireTimeoutMs (${acquireTimeoutMs} ms), so nothing was done; check the server, find what holds connections, or ${this.#words.poolRemedy}`,
      ),
    );

  /** The pool has failed, or has given up waiting by its own limit. */
  noConnection(error: unknown): unknown {
    if (error instanceof StoreError || error instanceof InvalidOptionError) return error;
    if (this.is('missing', error)) return unsent(this.#missingTables(error));
    const found = this.#words.databaseErrorOf(error);
    const { code, message } = (found ?? {}) as { code?: unknown; message?: unknown };
    const isLate = /time(?:d ?)?-?out|in the given time/i.test(`${code} ${message}`);
    // Before a connection is there, no statement is in its error.
    const cause = Object.assign(
      new Error(String(message ?? found)),
      code !== undefined && { code },
    );
    const text = `The pool provided no connection${isLate ? ' within its own time limit' : ''}, so nothing was done; see cause. Check the server, and what holds the pool's connections`;
    return unsent(isLate ? late(text, cause) : failed(text, cause));
  }

  /** The connection was lost before the transaction had begun, which no COMMIT can have followed. */
  lostBeforeBegin(error: unknown): StoreError {
    const cause = error instanceof StoreError ? error.cause : error;
    return unsent(
      failed(
        'The connection was lost before its transaction had begun, so nothing was done; see cause. Check the server, and call again',
        this.causeOf(cause),
      ),
    );
  }

  /** Other code has released a connection while its transaction was open. */
  foreignTransaction(): StoreError {
    return failed(
      'The pool returned a connection with an open transaction, which was closed; nothing was done: end each transaction before its release, also when it fails',
    );
  }

  readonly noAnswerInTime = (timeoutMs: number): StoreError =>
    late(
      `${this.#words.name} did not answer within ${timeoutMs} ms, so the connection was closed and nothing was processed; check the server and network, or raise commandTimeoutMs`,
    );

  readonly noStepInTime = (timeoutMs: number): StoreError =>
    late(`${this.#words.name} did not answer within ${timeoutMs} ms (commandTimeoutMs). ${REPEAT}`);

  readonly noEndOfWorkInTime = (timeoutMs: number): StoreError =>
    late(
      `The work took longer than transactionTimeoutMs (${timeoutMs} ms); ${RUN_AGAIN}. Give its statements deadlines (${this.#words.deadlineRemedy})`,
    );

  readonly noEndInTime = (timeoutMs: number): StoreError =>
    late(
      `${this.#words.name} did not answer COMMIT within commandTimeoutMs (${timeoutMs} ms); ${UNKNOWN_END}`,
    );

  endUnknown(cause: unknown): StoreError {
    return lost(
      `The connection to the database was lost at COMMIT; ${UNKNOWN_END}`,
      // If a loss was already described, keep only the driver's error.
      cause instanceof StoreError ? cause.cause : cause,
    );
  }

  connectionLost(cause: unknown): StoreError {
    return lost(
      `The connection to the database was lost during the work; ${RUN_AGAIN}. Stop when the signal aborts`,
      cause,
    );
  }

  transactionEnded(cause?: unknown): StoreError {
    return lost(
      `The work ended the transaction (${this.#words.endedBy}); ${RUN_AGAIN}. Throw to undo it`,
      cause,
    );
  }

  transactionAborted(cause?: unknown): StoreError {
    return lost(
      'A statement failed and the work continued; nothing was recorded. Rethrow, or set a SAVEPOINT before a statement that may fail',
      cause,
    );
  }

  changedAnswer(): StoreError {
    return failed(
      'The pool did not return the text that the database sent, so nothing was processed; look for a type parser or a wrapper of it',
    );
  }

  /** The only text in each row: a store selects nothing but texts, as a pool may parse other types in its own way. */
  textsOf(rows: readonly object[] | undefined): readonly string[] {
    if (rows === undefined) throw this.changedAnswer();
    return rows.map((row) => {
      const value: unknown = Object.values(row ?? {})[0];
      if (typeof value === 'string') return value;
      throw this.changedAnswer();
    });
  }

  /** Converts any failure of a step to an error for users. */
  explain(error: unknown): unknown {
    if (error instanceof StoreError || error instanceof InvalidOptionError) return error;
    const unreachable = connectErrorOf(error);
    if (unreachable !== undefined) return this.noConnection(unreachable);
    if (this.is('missing', error)) return this.#missingTables(error);
    const { name, remedyFor, databaseErrorOf } = this.#words;
    const found = databaseErrorOf(error);
    const cause = this.causeOf(error);
    if (this.is('lockTimeout', found)) {
      return late(
        'Another transaction held the payment for too long, and nothing was written. Commit your transaction that recorded the same payment before create() or send()',
        cause,
      );
    }
    if (this.losesConnection(found)) {
      const text = `${name}, or the connection to it, failed; see cause`;
      return failed(`${text}. ${REPEAT}`, cause);
    }
    const remedy = remedyFor(found);
    const text = `${name} refused a statement of the store; nothing was written, see cause`;
    return failed(remedy === undefined ? text : `${text}. ${remedy}`, cause);
  }

  /** Names the statement if the role may not create what the store lacks: someone else must run it. */
  explainSetup(error: unknown, statement: string): unknown {
    if (!this.is('denied', error)) return error;
    const plain = statement.replace(/--.*/g, '').replace(/\s+/g, ' ').trim();
    return new StoreError(
      'MISSING_TABLES',
      `setup() may not create what the store lacks. Run this as a role that may: ${plain};`,
      { cause: this.causeOf(error) },
    );
  }

  #missingTables(error: unknown): StoreError {
    return missing(
      `A table or column of the store is missing, nothing was written; create the database or schema if needed, then call setup() or run ${this.#words.schema}`,
      this.causeOf(error),
    );
  }

  /** Explains the error of the statements that end a transaction, COMMIT among them. */
  explainFailedEnd(error: unknown): unknown {
    if (error instanceof StoreError && error.code === 'STORE_TIMEOUT') return error;
    if (this.losesConnection(error)) return this.endUnknown(error);
    if (this.is('aborted', error)) return this.transactionAborted(error);
    return this.is('ended', error) ? this.transactionEnded(error) : error;
  }

  /** Whether a claim failed because another transaction holds the order. */
  isBusy(error: unknown): boolean {
    return this.is('lockTimeout', error) || this.is('deadlock', error);
  }
}

/** A TypeError, or the like, that another try would only repeat. */
function isProgramError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
