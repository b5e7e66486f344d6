import { MerchantPaymentsError, StoreError } from '../../errors.js';
import { nameFailure } from '../../protocol/describe-value.js';

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

/** How the errors of a kind of database server are recognized. */
export interface ServerErrorKinds {
  /** The server's code of an error; undefined if the error is not from the server. */
  codeOf(error: unknown): ErrorCode | undefined;
  /** Whether the server has ended the connection with this error, possibly after a COMMIT. */
  endsConnection(error: unknown): boolean;
  /** Finds the server's error in that of an ORM, without the statement; otherwise returns the error unchanged. */
  databaseErrorOf(error: unknown): unknown;
  /** A server's error as it may be shown: without what repeats references or a part of a body. */
  toShow(error: Error): Error;
  readonly codes: ErrorCodes;
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

/** What the errors of one kind of database server mean. */
export class ServerErrors {
  readonly #kinds: ServerErrorKinds;

  constructor(kinds: ServerErrorKinds) {
    this.#kinds = kinds;
  }

  /** Whether the connection is lost after this error: its next answer may belong to an earlier statement. */
  losesConnection(error: unknown): boolean {
    return this.#kinds.codeOf(error) === undefined || this.#kinds.endsConnection(error);
  }

  /** Whether no other transaction should use the connection after this error. */
  spoilsConnection(error: unknown): boolean {
    const found = this.#kinds.databaseErrorOf(error);
    if (this.#kinds.codeOf(found) === undefined) return false;
    return this.is('spoils', found) || this.#kinds.endsConnection(found);
  }

  /** Whether a transaction failed because the connection was lost, or could not be made. */
  isLost(error: unknown): boolean {
    if (error instanceof StoreError) {
      if (error.code === 'TRANSACTION_LOST') return true;
      return error.code === 'STORE_FAILED' && wasNeverSent(error) && this.isLost(error.cause);
    }
    return !isProgramError(error) && this.losesConnection(this.#kinds.databaseErrorOf(error));
  }

  /** Whether a statement was rolled back for a reason that may be over. */
  isUndone(error: unknown): boolean {
    return this.is('undone', error);
  }

  is(kind: keyof ErrorCodes, error: unknown): boolean {
    const code = this.#kinds.codeOf(this.#kinds.databaseErrorOf(error));
    return code !== undefined && this.#kinds.codes[kind].includes(code);
  }

  /**
   * An error as it may be shown: drivers and ORMs add the statement, which contains the request body. Without an answer of
   * the server, only its code is kept.
   */
  causeOf(error: unknown): Error {
    if (error instanceof MerchantPaymentsError || error instanceof TypeError) return error;
    const found = this.#kinds.databaseErrorOf(error);
    if (this.#kinds.codeOf(found) !== undefined) return this.#kinds.toShow(found as Error);
    return new Error(`the driver failed${nameFailure(error)}`);
  }
}

/** A TypeError, or the like, that another try would only repeat. */
function isProgramError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
