import { Loss, toError } from '../store/loss.js';
import { TransactionOpen } from '../store/sql/server-errors.js';
import type {
  ClaimLimits,
  Connections,
  Deadline,
  OpenTransaction,
  ServerTimeouts,
} from '../store/sql/transactions.js';
import { type Answer, hasChanged, listOf } from './answers.js';
import { failures, sqlStateOf } from './failures.js';
import { runInTransaction } from './merchants-transaction.js';
import {
  assertClient,
  type PgClientLike,
  type PgPoolLike,
  type Queryable,
  statusOf,
} from './pool.js';
import { withSavepoints } from './savepoints.js';
import {
  BEGIN,
  leaveSavepoint,
  parseSession,
  SAVEPOINT,
  type Session,
  settings,
} from './settings.js';

/** The connections of a pool. */
export function poolConnections<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs }: ServerTimeouts,
): Connections<Tx> {
  const ofWork: Deadline = {
    timeoutMs: transactionTimeoutMs,
    createError: failures.noEndOfWorkInTime,
  };
  const ofStatement: Deadline = {
    timeoutMs: commandTimeoutMs,
    createError: failures.noStepInTime,
  };
  const onConnection = async <Value>(
    use: (connection: Connection<Tx>) => Promise<Value>,
  ): Promise<Value> => {
    const loss = new Loss();
    // An `error` event without a listener ends the process.
    const onError = (error: Error) => loss.report(failures.connectionLost(error));
    const client = await takeConnection(pool, acquireTimeoutMs, onError);
    const connection = new Connection(client, loss, commandTimeoutMs);
    try {
      const status = statusOf(client);
      // Other code released the client without ending its transaction.
      if (status === 'T' || status === 'E') throw connection.lose(new TransactionOpen());
      return await use(connection);
    } catch (error) {
      if (failures.spoilsConnection(error)) loss.report(toError(error));
      await connection.rollBack();
      throw error;
    } finally {
      release(client, onError, loss.reason ?? connection.spoiledBy);
    }
  };
  const alone = <Value>(
    statement: string,
    answered: (running: Promise<Answer>) => Promise<Value>,
  ) =>
    onConnection((connection) =>
      connection.within(ofStatement, () =>
        answered(connection.send(statement).then(([answer]) => answer as Answer)),
      ),
    );
  return {
    isSingle: false,
    run: (body, deadline = ofWork) =>
      onConnection(async (connection) => {
        const ending = await connection
          .within(deadline, () => body(connection))
          .catch((error) => {
            const isOver = !connection.hasBegun && failures.isLost(error);
            throw isOver ? failures.lostBeforeBegin(error) : error;
          });
        if (ending.end === 'rollback') await connection.rollBack();
        else await connection.commit(ending.undo, ending.statements);
        return ending.result;
      }),
    read: (statement) =>
      alone(statement, async (running) => failures.textsOf((await running)?.rows)),
    change: (statement) => alone(statement(), hasChanged),
    runIn: runInTransaction,
  };
}

/** A connection while a store has it. */
class Connection<Tx extends Queryable> implements OpenTransaction<Tx> {
  readonly tx: Tx;
  readonly #loss: Loss;
  readonly #commandTimeoutMs: number;
  /** Whether the server has answered that the transaction has begun. */
  hasBegun = false;
  /** An error of the work after which no other transaction should use the connection. */
  spoiledBy: Error | undefined;
  #isOpen = false;
  /** As before the work, once its savepoint is set. */
  #session: Session | undefined;

  constructor(client: Tx, loss: Loss, commandTimeoutMs: number) {
    this.tx = client;
    this.#loss = loss;
    this.#commandTimeoutMs = commandTimeoutMs;
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  lose(reason: Error): Error {
    this.#loss.report(reason);
    return reason;
  }

  /**
   * Runs the body with a deadline: on a network that swallows packets, a statement never ends on its own, and the
   * statements of the body have no other deadline.
   */
  within<Result>(
    { timeoutMs, createError }: Deadline,
    body: () => Promise<Result>,
  ): Promise<Result> {
    return this.#loss.within(timeoutMs, createError, () => this.#loss.orSettled(body()));
  }

  async begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]> {
    const before = [BEGIN, settings(limits), ...statements];
    this.#isOpen = true;
    const hasWork = statements.length > 0;
    const after = hasWork ? [SAVEPOINT] : [];
    const timeoutMs = limits.lockTimeoutMs + limits.commandTimeoutMs;
    const results = await this.#loss.within(timeoutMs, failures.noAnswerInTime, () =>
      this.send([...before, ...after].join('; ')),
    );
    this.hasBegun = true;
    const [session] = failures.textsOf(results[1]?.rows);
    this.#session = hasWork ? parseSession(session) : undefined;
    return results.slice(2, before.length).flatMap(({ rows }) => failures.textsOf(rows));
  }

  async ask(statement: string): Promise<readonly string[]> {
    return failures.textsOf((await this.send(statement))[0]?.rows);
  }

  runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    return withSavepoints(this.tx, work).catch((error) => {
      if (failures.spoilsConnection(error)) this.spoiledBy = toError(error);
      throw error;
    });
  }

  async commit(undo: boolean, statements: readonly string[]): Promise<void> {
    if (this.#loss.reason !== undefined) throw this.#loss.reason;
    const work = this.#session === undefined ? [] : leaveSavepoint(undo, this.#session);
    const text = [...work, ...statements, 'COMMIT'].join('; ');
    let results: readonly Answer[];
    try {
      results = await this.#loss.orSettled(
        this.#loss.within(this.#commandTimeoutMs, failures.noEndInTime, () => this.send(text)),
      );
    } catch (error) {
      throw failures.explainFailedEnd(error);
    }
    const command = results.at(-1)?.command;
    // Postgres answers the COMMIT of an aborted transaction with ROLLBACK, and no error.
    if (command !== undefined && command !== 'COMMIT') throw failures.transactionAborted();
    this.#isOpen = false;
  }

  /** Rolls back what is open. If that fails, the connection counts as lost, and is closed. */
  async rollBack(): Promise<void> {
    if (!this.#isOpen || this.#loss.reason !== undefined) return;
    this.#isOpen = false;
    const rolling = this.#loss.within(this.#commandTimeoutMs, failures.noAnswerInTime, () =>
      this.send('ROLLBACK'),
    );
    await this.#loss.orSettled(rolling).catch((error) => this.#loss.report(toError(error)));
  }

  /** May settle late, or never, after a loss. */
  async send(text: string): Promise<readonly Answer[]> {
    try {
      return listOf(await this.tx.query(text));
    } catch (error) {
      // Not an answer from Postgres: the next answer on this connection may belong to this statement.
      if (sqlStateOf(error) === undefined) this.#loss.report(toError(error));
      throw error;
    }
  }
}

type OnError = (error: Error) => void;

/** Takes a connection from the pool, and attaches `onError` immediately. */
function takeConnection<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  timeoutMs: number,
  onError: OnError,
): Promise<Tx & PgClientLike> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(failures.noConnectionInTime(timeoutMs));
    }, timeoutMs);
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(failures.noConnection(error));
    };
    const connected = (error: unknown, client: Tx & PgClientLike): void => {
      clearTimeout(timer);
      try {
        if (error) throw error;
        assertClient(client);
        client.on('error', onError);
        // A request to the pool can't be cancelled, so a late connection must be released.
        if (isLate) setImmediate(releaseLate, client, onError);
        else resolve(client);
      } catch (wrong) {
        fail(wrong);
      }
    };
    // By a callback if the pool accepts one, as pg's does: a connection may break in the same turn of the event loop in
    // which it was made, before then() could attach a listener.
    if (pool.connect.length === 0) {
      pool.connect().then((client) => connected(undefined, client), fail);
    } else {
      (pool.connect as (callback: typeof connected) => unknown).call(pool, connected);
    }
  });
}

/**
 * Releases a connection for which no call waits any longer. Not synchronously in the pool's callback: release() serves
 * the next waiting call, and thousands of late ones would overflow the stack.
 */
function releaseLate(client: PgClientLike, onError: OnError): void {
  try {
    release(client, onError);
  } catch {
    // The release() of a wrapper may throw, which would end the process here.
  }
}

/** Returns the connection to the pool, which closes it if there is an error. */
function release(client: PgClientLike, onError: OnError, broken?: Error): void {
  // Release first: from then on, the pool listens for errors.
  client.release(broken);
  client.removeListener('error', onError);
}
