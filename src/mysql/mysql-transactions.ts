import { Loss } from '../store/loss.js';
import { hasMethods } from '../store/providers/provider.js';
import type { TransactionTimeouts } from '../store/sql/transaction-timeouts.js';
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
import { asRows, sendTo, textsOf } from './rows.js';
import { beginStatements, COMMIT, RESTORE, ROLLBACK, type SessionLimits } from './session.js';

/** A connection for one transaction, which the body begins. */
export interface OpenConnection<Tx> {
  readonly tx: Tx;
  /** Aborts when the connection is lost, with an StoreError as its reason. */
  readonly signal: AbortSignal;
  /** Whether an ORM has begun the transaction, and ends it. */
  readonly isProvided: boolean;
  /**
   * Begins the READ COMMITTED transaction. Call it once, before you send anything else.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when a statement has no answer within `timeoutMs`
   */
  begin(limits: SessionLimits, timeoutMs: number): Promise<void>;
  /**
   * Runs one statement. Resolves with the text in each row of its first result.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when there is no answer within `timeoutMs`; `STORE_FAILED` when a row
   * has no text
   */
  ask(statement: string, timeoutMs: number): Promise<readonly string[]>;
}

/** How a body that does not throw wants its transaction to end, and its result. */
export type Ending<Result> =
  | { readonly end: 'rollback'; readonly result: Result }
  | {
      readonly end: 'commit';
      readonly result: Result;
      /** Run just before COMMIT, in order, up to the first that fails. */
      readonly statements: readonly string[];
      /**
       * Whether they already commit, and restore the session's settings.
       * @default false
       */
      readonly commits?: boolean;
      /** A query that returns a row if the transaction was committed. Sent if an ORM commits. */
      readonly confirm?: string;
    }
  /** There is no transaction. */
  | { readonly end: 'nothing'; readonly result: Result };

/** Runs each body on its own connection. */
export interface MysqlTransactions<Tx> {
  /**
   * Runs `body`, which begins a transaction, and commits or rolls back as `body` returns; rolls back if it
   * throws. Rejects without waiting for `body` if the connection is lost.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when there is no connection, or no answer, in time;
   * `TRANSACTION_LOST` when the connection is lost, or `body` has ended the transaction
   */
  run<Result>(body: (connection: OpenConnection<Tx>) => Promise<Ending<Result>>): Promise<Result>;
}

/** Transactions on connections of a pool. */
export function mysqlTransactions<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  timeouts: TransactionTimeouts,
): MysqlTransactions<Tx> {
  const { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs } = timeouts;
  return {
    async run(body) {
      const loss = new Loss();
      const onLost = (error?: Error) => loss.report(connectionLost(error ?? serverClosed()));
      const taken = await takeConnection(pool, acquireTimeoutMs, onLost);
      const connection = new TakenConnection<Tx>(taken, loss);
      let isBroken = false;
      // On a network that swallows packets, a statement never ends on its own, and the statements of the body have no
      // other deadline.
      const timer = setTimeout(
        () => loss.report(noEndOfWorkInTime(transactionTimeoutMs)),
        transactionTimeoutMs,
      );
      try {
        const ending = await loss.orSettled(body(connection));
        clearTimeout(timer);
        if (ending.end === 'rollback') isBroken = !(await connection.rollBack(commandTimeoutMs));
        if (ending.end === 'commit') {
          const { statements, commits } = ending;
          const all = commits ? statements : [...statements, COMMIT, RESTORE];
          await connection.commit(all, commandTimeoutMs);
        }
        return ending.result;
      } catch (error) {
        clearTimeout(timer);
        isBroken = spoilsConnection(error) || !(await connection.rollBack(commandTimeoutMs));
        throw error;
      } finally {
        releaseOrDestroy(taken, onLost, isBroken);
      }
    },
  };
}

class TakenConnection<Tx extends MysqlQueryable> implements OpenConnection<Tx> {
  readonly tx: Tx;
  readonly isProvided = false;
  readonly #loss: Loss;

  constructor(connection: Tx, loss: Loss) {
    this.tx = connection;
    this.#loss = loss;
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  async begin(limits: SessionLimits, timeoutMs: number): Promise<void> {
    for (const statement of beginStatements(limits)) await this.ask(statement, timeoutMs);
  }

  ask(statement: string, timeoutMs: number): Promise<readonly string[]> {
    return this.#send(statement, timeoutMs, noAnswerInTime).then(textsIn);
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

  /** Resolves with whether the connection can be reused. */
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

  /** May settle late, or never, after a loss. */
  #send(
    sql: string,
    timeoutMs: number,
    createTimeout: (timeoutMs: number) => Error,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#loss.report(createTimeout(timeoutMs)), timeoutMs);
      const fail = (error: unknown): void => {
        clearTimeout(timer);
        // The statement contains references and keys.
        const failure = withoutStatement(error);
        if (losesConnection(failure)) this.#loss.report(connectionLost(failure));
        reject(failure);
      };
      try {
        sendTo(this.tx, sql, (error, given) => {
          if (error) return fail(error);
          clearTimeout(timer);
          resolve(given);
        });
      } catch (error) {
        fail(error);
      }
    });
  }
}

function textsIn(given: unknown): readonly string[] {
  return textsOf(asRows(given));
}

export function serverClosed(): Error {
  return new Error('the server closed the connection');
}

type OnLost = (error?: Error) => void;

/** Takes a connection from the pool, and attaches `onLost` immediately. */
export function takeConnection<Tx extends MysqlQueryable>(
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
        clearTimeout(timer);
        assertConnection(connection);
        // A request to the pool can't be cancelled, so a late connection must be released.
        if (isLate) return connection.release();
        // An `error` event without a listener ends the process.
        const emitter = emitterOf(connection);
        emitter.on('error', onLost);
        emitter.on('end', onLost);
        resolve(connection);
      })
      .catch((error) => {
        clearTimeout(timer);
        reject(error);
      });
  });
}

export function releaseOrDestroy(
  connection: MysqlConnectionLike,
  onLost: OnLost,
  isBroken: boolean,
): void {
  if (isBroken) destroy(connection);
  else connection.release();
  const emitter = emitterOf(connection);
  emitter.removeListener('error', onLost);
  emitter.removeListener('end', onLost);
}

type Emitter = Pick<MysqlConnectionLike, 'on' | 'removeListener'>;

/** The underlying callback connection, if there is one: the promise wrapper forwards its events at a cost. */
function emitterOf(connection: MysqlConnectionLike): Emitter {
  const { connection: core } = connection as { readonly connection?: Emitter };
  return hasMethods(core, ['on', 'removeListener']) ? (core as Emitter) : connection;
}

interface WithSocket {
  readonly connection?: { readonly stream?: { destroy?: () => void } };
}

function destroy(connection: MysqlConnectionLike): void {
  connection.destroy();
  // The driver only ends its side of the socket, which stays open on a network that swallows packets.
  (connection as WithSocket).connection?.stream?.destroy?.();
}
