import { InboxError } from '../../errors.js';
import { Loss } from '../postgres/pg-transactions.js';
import {
  connectionLost,
  explainFailedEnd,
  losesConnection,
  noAnswerInTime,
  noConnectionInTime,
  noEndInTime,
  noEndOfWorkInTime,
  spoilsConnection,
  withoutStatement,
} from './failures.js';
import {
  assertConnection,
  type MysqlConnectionLike,
  type MysqlPoolLike,
  type MysqlQueryable,
} from './pool.js';
import { RESTORE, ROLLBACK } from './session.js';

/** How long may be waited, in milliseconds. */
export interface MysqlTimeouts {
  /** For a connection of the pool. */
  readonly acquireTimeoutMs: number;
  /** For the answer to the end of a transaction. */
  readonly commandTimeoutMs: number;
  /** For everything between, the statements of the body included. */
  readonly transactionTimeoutMs: number;
}

/** A connection that is taken for one transaction. */
export interface OpenConnection<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with an InboxError as its reason. */
  readonly signal: AbortSignal;
  /**
   * Runs one statement. Gives the text that each of its rows has, of its first result.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when there is no answer within `timeoutMs`; `STORE_FAILED` when it
   * is not text
   */
  ask(statement: string, timeoutMs: number): Promise<readonly string[]>;
}

/** How a body wants its transaction to end when it does not throw, and what it gives. */
export type Ending<Result> =
  | { readonly end: 'rollback'; readonly result: Result }
  | {
      readonly end: 'commit';
      readonly result: Result;
      /**
       * Statements that commit and put the session's settings back, one after another; those that follow
       * one that fails are not sent.
       */
      readonly statements: readonly string[];
    }
  /** There is no transaction. */
  | { readonly end: 'nothing'; readonly result: Result };

/** Runs bodies on connections of their own. */
export interface MysqlTransactions<Tx> {
  /**
   * Runs `body`, which begins a transaction, and ends that as `body` says: it is rolled back when `body`
   * throws. Rejects without waiting for `body` when the connection is lost.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when there is no connection, or no answer, in time;
   * `TRANSACTION_LOST` when the connection is lost, or `body` has ended the transaction
   */
  run<Result>(body: (connection: OpenConnection<Tx>) => Promise<Ending<Result>>): Promise<Result>;
}

/** Transactions on connections of a pool. */
export function mysqlTransactions<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  timeouts: MysqlTimeouts,
): MysqlTransactions<Tx> {
  const { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs } = timeouts;
  return {
    async run(body) {
      const loss = new Loss();
      const onLost = (error?: Error) => loss.report(connectionLost(error ?? serverClosed()));
      const taken = await takeConnection(pool, acquireTimeoutMs, onLost);
      const connection = new TakenConnection<Tx>(taken, loss);
      let isBroken = false;
      try {
        const ending = await connection.within(transactionTimeoutMs, body);
        if (ending.end === 'rollback') isBroken = !(await connection.rollBack(commandTimeoutMs));
        if (ending.end === 'commit') await connection.commit(ending.statements, commandTimeoutMs);
        return ending.result;
      } catch (error) {
        isBroken = spoilsConnection(error) || !(await connection.rollBack(commandTimeoutMs));
        throw error;
      } finally {
        giveBack(taken, onLost, isBroken);
      }
    },
  };
}

class TakenConnection<Tx extends MysqlQueryable> implements OpenConnection<Tx> {
  readonly tx: Tx;
  readonly #loss: Loss;

  constructor(connection: Tx, loss: Loss) {
    this.tx = connection;
    this.#loss = loss;
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  /**
   * Runs the body, which alone knows what it waits for: a statement on a network that swallows what is
   * sent never ends by itself.
   */
  async within<Result>(
    timeoutMs: number,
    body: (connection: OpenConnection<Tx>) => Promise<Ending<Result>>,
  ): Promise<Ending<Result>> {
    const timer = setTimeout(() => this.#loss.report(noEndOfWorkInTime(timeoutMs)), timeoutMs);
    try {
      return await this.#loss.orSettled(body(this));
    } finally {
      clearTimeout(timer);
    }
  }

  async ask(statement: string, timeoutMs: number): Promise<readonly string[]> {
    return textsOf(await this.#send(statement, timeoutMs, noAnswerInTime));
  }

  async commit(statements: readonly string[], timeoutMs: number): Promise<void> {
    if (this.#loss.reason !== undefined) throw this.#loss.reason;
    try {
      for (const statement of statements) {
        await this.#loss.orSettled(this.#send(statement, timeoutMs, noEndInTime));
      }
    } catch (error) {
      throw explainFailedEnd(error);
    }
  }

  /** Gives whether the connection can be used again. */
  async rollBack(timeoutMs: number): Promise<boolean> {
    if (this.#loss.reason !== undefined) return false;
    try {
      for (const statement of [ROLLBACK, RESTORE]) {
        await this.#loss.orSettled(this.#send(statement, timeoutMs, noAnswerInTime));
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Settles late, or never, when there is a loss. */
  async #send(
    sql: string,
    timeoutMs: number,
    createTimeout: (timeoutMs: number) => Error,
  ): Promise<unknown> {
    const timer = setTimeout(() => this.#loss.report(createTimeout(timeoutMs)), timeoutMs);
    try {
      // Whatever the pool is set to.
      return await query(this.tx, { sql, rowsAsArray: true, nestTables: false, typeCast: asIs });
    } catch (error) {
      // It has references and keys.
      const failure = withoutStatement(error);
      if (losesConnection(failure)) this.#loss.report(connectionLost(failure));
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }
}

type Answered = (error: unknown, given?: unknown) => void;

interface WithCallbacks {
  readonly connection?: { query?(query: object, answered: Answered): unknown };
}

/** By the connection with callbacks, where there is one: the other takes a stack for each query. */
function query(tx: MysqlQueryable, options: object): Promise<unknown> {
  const core = (tx as WithCallbacks).connection;
  if (typeof core?.query !== 'function') {
    return tx.query(options as unknown as string).then(([given]) => given);
  }
  return new Promise((resolve, reject) => {
    core.query?.(options, (error, given) => (error ? reject(error) : resolve(given)));
  });
}

// The pool's own holds unless a query has one.
function asIs(_field: unknown, next: () => unknown): unknown {
  return next();
}

function textsOf(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  const isCall = given.length > 0 && !Array.isArray(given.at(-1));
  const rows: unknown[] = isCall ? given[0] : given;
  return rows.map((row) => {
    const text: unknown = Object.values(row ?? {})[0];
    if (typeof text === 'string') return text;
    throw new InboxError(
      'STORE_FAILED',
      'The pool does not give the text that the database answered, so nothing was processed; look for a wrapper of the pool that changes what queries return',
    );
  });
}

function serverClosed(): Error {
  return new Error('the server closed the connection');
}

type OnLost = (error?: Error) => void;

/** Takes a connection of the pool, on which `onLost` listens from the first moment. */
function takeConnection<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  timeoutMs: number,
  onLost: OnLost,
): Promise<Tx & MysqlConnectionLike> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(noConnectionInTime(timeoutMs));
    }, timeoutMs);
    Promise.resolve(pool.getConnection())
      .then((connection) => {
        assertConnection(connection);
        // A pool's wait can't be cancelled: it hands out the connection all the same.
        if (isLate) return connection.release();
        // An `error` event without a listener ends the process.
        connection.on('error', onLost);
        connection.on('end', onLost);
        resolve(connection);
      })
      .catch(reject)
      .finally(() => clearTimeout(timer));
  });
}

function giveBack(connection: MysqlConnectionLike, onLost: OnLost, isBroken: boolean): void {
  if (isBroken) destroy(connection);
  else connection.release();
  connection.removeListener('error', onLost);
  connection.removeListener('end', onLost);
}

interface WithSocket {
  readonly connection?: { readonly stream?: { destroy?: () => void } };
}

function destroy(connection: MysqlConnectionLike): void {
  connection.destroy();
  // The driver only ends its side of the socket, which stays open on a network that swallows what is sent.
  (connection as WithSocket).connection?.stream?.destroy?.();
}
