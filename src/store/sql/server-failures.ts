import { InvalidOptionError, StoreError } from '../../errors.js';
import { connectErrorOf } from '../providers/driver-errors.js';
import { type ServerErrorKinds, ServerErrors, unsent } from './server-errors.js';

/** What differs between the errors of database servers. */
export interface ServerWords extends ServerErrorKinds {
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
  'whether it was recorded is unknown. The service retries: the retry is a duplicate if it was recorded, and runs the work again if not';
const RUN_AGAIN = 'nothing was recorded, and a later delivery runs the work again';
const REPEAT = 'It is unknown whether the step was done; it is safe to repeat it';

const late = (text: string, cause?: unknown) => new StoreError('STORE_TIMEOUT', text, { cause });
const failed = (text: string, cause?: unknown) => new StoreError('STORE_FAILED', text, { cause });
const lost = (text: string, cause?: unknown) => new StoreError('TRANSACTION_LOST', text, { cause });

/** The errors of one kind of database server, for users. */
export class ServerFailures extends ServerErrors {
  readonly #words: ServerWords;

  constructor(words: ServerWords) {
    super(words);
    this.#words = words;
  }

  readonly noConnectionInTime = (acquireTimeoutMs: number): StoreError =>
    unsent(
      late(
        `The pool provided no connection within acquireTimeoutMs (${acquireTimeoutMs} ms), so nothing was done; check that the server can be reached, find what holds the pool's connections, make it larger, or ${this.#words.poolRemedy}`,
      ),
    );

  /** The pool has failed, or has given up waiting by its own limit. */
  noConnection(error: unknown): unknown {
    if (error instanceof StoreError || error instanceof InvalidOptionError) return error;
    if (this.is('missing', error)) return unsent(this.#missingTables(error));
    const found = this.#words.databaseErrorOf(error);
    const { code, message } = (found ?? {}) as { code?: unknown; message?: unknown };
    const isLate = /time(?:d )?-?out|ETIMEDOUT|P2024/i.test(`${String(code)} ${String(message)}`);
    // Before a connection is there, no statement is in its error.
    const cause = Object.assign(
      new Error(String(message ?? found)),
      code !== undefined && { code },
    );
    const text = `The pool provided no connection${isLate ? ' within its own time limit' : ''}, so nothing was done; see cause. Check that the server can be reached, and find what holds the pool's connections`;
    return unsent(isLate ? late(text, cause) : failed(text, cause));
  }

  /** The connection was lost before the transaction had begun, which no COMMIT can have followed. */
  lostBeforeBegin(error: unknown): StoreError {
    const cause = error instanceof StoreError ? error.cause : error;
    return unsent(
      failed(
        'The connection to the database was lost before its transaction had begun, so nothing was done; see cause. Check that the server can be reached, and call again',
        this.causeOf(cause),
      ),
    );
  }

  /** Other code has released a connection while its transaction was open. */
  foreignTransaction(): StoreError {
    return failed(
      'The pool returned a connection with an open transaction, so it was closed, and nothing was done: end each transaction before you release its client, also when it fails',
    );
  }

  readonly noAnswerInTime = (timeoutMs: number): StoreError =>
    late(
      `${this.#words.name} did not answer within ${timeoutMs} ms, so the connection was closed and nothing was processed; check the server and the network, or raise commandTimeoutMs`,
    );

  readonly noStepInTime = (timeoutMs: number): StoreError =>
    late(
      `${this.#words.name} did not answer within ${timeoutMs} ms (commandTimeoutMs; with an ORM, plus acquireTimeoutMs), so the connection was closed. ${REPEAT}. Check the server and the network, and commit any transaction of yours that recorded this payment`,
    );

  readonly noEndOfWorkInTime = (timeoutMs: number): StoreError =>
    late(
      `The transaction was not over within transactionTimeoutMs (${timeoutMs} ms), so the connection was closed; ${RUN_AGAIN}. Give the statements of your work a deadline (${this.#words.deadlineRemedy}), or raise transactionTimeoutMs`,
    );

  readonly noEndInTime = (timeoutMs: number): StoreError =>
    late(
      `${this.#words.name} did not answer COMMIT within commandTimeoutMs (${timeoutMs} ms), so the connection was closed; ${UNKNOWN_END}`,
    );

  endUnknown(cause: unknown): StoreError {
    return lost(
      `The connection to the database was lost while the change was being recorded; ${UNKNOWN_END}`,
      // If a loss was already described, keep only the driver's error.
      cause instanceof StoreError ? cause.cause : cause,
    );
  }

  connectionLost(cause: unknown): StoreError {
    return lost(
      `The connection to the database was lost while the work was running, and its transaction with it; ${RUN_AGAIN}. Stop the work when its signal aborts`,
      cause,
    );
  }

  transactionEnded(cause?: unknown): StoreError {
    return lost(
      `The work ended the transaction it was given, by ${this.#words.endedBy}; ${RUN_AGAIN}. Let the store end the transaction: throw to undo everything, use SAVEPOINT and ROLLBACK TO SAVEPOINT to undo a part`,
      cause,
    );
  }

  transactionAborted(cause?: unknown): StoreError {
    return lost(
      `A statement of the work failed and the work continued, but ${this.#words.name} has rolled back the whole transaction; ${RUN_AGAIN}. Let the error through, or set a SAVEPOINT before a statement that may fail, and send ROLLBACK TO SAVEPOINT if it does`,
      cause,
    );
  }

  changedAnswer(): StoreError {
    return failed(
      'The pool did not return the text that the database sent, so nothing was processed; look for a type parser, a plugin, or a wrapper of the pool, that changes what queries return',
    );
  }

  /**
   * The only text in each row. A store selects nothing but texts, because a pool may parse other types in its own way,
   * and `'f'` is true in JavaScript.
   *
   * @throws {StoreError} `STORE_FAILED` for anything else
   */
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
        'Another transaction held the payment for too long, and nothing was written. Look for one of your transactions that recorded the same payment and is still open: commit it before create() or send()',
        cause,
      );
    }
    if (this.losesConnection(found)) {
      const text = `${name}, or the connection to it, failed during a step of the store; see cause`;
      return failed(`${text}. ${REPEAT}`, cause);
    }
    const remedy = remedyFor(found);
    const text = `${name} refused a statement of the store, and nothing was written; see cause`;
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
    return new StoreError(
      'MISSING_TABLES',
      `The database, its schema, or a table or column of the store, does not exist or is not where the connection looks, and nothing was written; create the database or the schema if it is missing, then call setup() once before the first payment, or run the SQL of ${this.#words.schema}`,
      { cause: this.causeOf(error) },
    );
  }

  /** Explains the error of the statements that end a transaction, COMMIT among them. */
  explainFailedEnd(error: unknown): unknown {
    if (error instanceof StoreError && error.code === 'STORE_TIMEOUT') return error;
    if (this.losesConnection(error)) return this.endUnknown(error);
    if (this.is('aborted', error)) return this.transactionAborted(error);
    return this.is('ended', error) ? this.transactionEnded(error) : error;
  }

  /** Explains the error of a statement that comes before COMMIT was sent. */
  explainFailedRecord(error: unknown): unknown {
    return this.losesConnection(error) ? this.connectionLost(error) : this.explainFailedEnd(error);
  }

  /** Whether a claim failed because another transaction holds the order. */
  isBusy(error: unknown): boolean {
    return this.is('lockTimeout', error) || this.is('deadlock', error);
  }
}
