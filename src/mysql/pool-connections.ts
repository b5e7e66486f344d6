import { Loss, toError } from '../store/loss.js';
import { TransactionOpen } from '../store/sql/server-errors.js';
import type {
  ClaimLimits,
  Connections,
  Deadline,
  OpenTransaction,
  ServerTimeouts,
} from '../store/sql/transactions.js';
import {
  errnoOf,
  failures,
  IN_TRANSACTION,
  READ_ONLY_TRANSACTION,
  withoutStatement,
} from './failures.js';
import type { Location } from './location.js';
import { runInTransaction } from './merchants-transaction.js';
import type { MysqlPoolLike, MysqlQueryable } from './pool.js';
import { asRows, sendTo, statusOf } from './rows.js';
import { withSavepoints } from './savepoints.js';
import {
  atMost,
  beginLimited,
  COMMIT,
  leaveSavepoint,
  READ_COMMITTED,
  RESTORE_ALL,
  ROLLBACK,
  SAVEPOINT,
  START,
} from './session.js';
import { releaseOrDestroy, takeConnection } from './taken-connection.js';

/** The connections of a pool. */
export function poolConnections<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs }: ServerTimeouts,
  location: Location,
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
    deadline: Deadline,
    use: (connection: Connection<Tx>) => Promise<Value>,
  ): Promise<Value> => {
    const loss = new Loss();
    const held: { connection?: Connection<Tx> } = {};
    const onLost = (error = serverClosed()) =>
      loss.report(held.connection?.lossBy(error) ?? failures.connectionLost(error));
    const taken = await takeConnection(pool, acquireTimeoutMs, onLost);
    const connection = new Connection<Tx>(taken, loss, location, commandTimeoutMs);
    held.connection = connection;
    // On a network that swallows packets, a statement never ends on its own, and the statements of the work have no
    // other deadline.
    const timer = setTimeout(
      () => loss.report(deadline.createError(deadline.timeoutMs)),
      deadline.timeoutMs,
    );
    try {
      return await loss.orSettled(use(connection));
    } catch (error) {
      if (failures.spoilsConnection(error)) loss.report(toError(error));
      await connection.rollBack();
      throw error;
    } finally {
      clearTimeout(timer);
      releaseOrDestroy(taken, onLost, loss.reason !== undefined || connection.isSpoiled);
    }
  };
  let hasStatus: boolean | undefined;
  return {
    isSingle: false,
    run: (body, deadline = ofWork) =>
      onConnection(deadline, async (connection) => {
        const ending = await body(connection);
        if (ending.end === 'rollback') await connection.rollBack();
        else await connection.commit(ending.undo, ending.statements);
        return ending.result;
      }),
    read: (statement) => onConnection(ofStatement, (connection) => connection.readAlone(statement)),
    change: (statement) =>
      onConnection(ofStatement, async (connection) => {
        // Checked once, in advance: after a committed change it would be too late.
        hasStatus ??= statusOf(await connection.send('DO 0')) !== undefined;
        return hasStatus ? connection.changeAlone(statement(sessionOf(connection.tx))) : undefined;
      }),
    runIn: (tx, body) => runInTransaction(tx, location, body),
  };
}

/** A connection while a store has it. */
class Connection<Tx extends MysqlQueryable> implements OpenTransaction<Tx> {
  readonly tx: Tx;
  /** Whether an error of the work shows that the connection is of no further use. */
  isSpoiled = false;
  readonly #loss: Loss;
  readonly #location: Location;
  readonly #commandTimeoutMs: number;
  #isOpen = false;
  #hasWork = false;
  /** Whether COMMIT was sent, so that a loss leaves its outcome unknown. */
  #isEnding = false;

  constructor(connection: Tx, loss: Loss, location: Location, commandTimeoutMs: number) {
    this.tx = connection;
    this.#loss = loss;
    this.#location = location;
    this.#commandTimeoutMs = commandTimeoutMs;
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  lossBy(error: unknown): Error {
    return this.#isEnding ? failures.endUnknown(error) : failures.connectionLost(error);
  }

  begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]> {
    const timeoutMs = limits.lockTimeoutMs + limits.commandTimeoutMs;
    return this.#loss.within(timeoutMs, failures.noAnswerInTime, () =>
      this.#begin(limits, statements),
    );
  }

  async #begin(
    limits: ClaimLimits,
    [lock, ...others]: readonly string[],
  ): Promise<readonly string[]> {
    this.#hasWork = lock !== undefined;
    this.#isOpen = true;
    await this.send(this.#hasWork ? beginLimited(limits) : READ_COMMITTED).catch((error) => {
      // START TRANSACTION would commit what is open, and without it the store's COMMIT would.
      throw errnoOf(error) === IN_TRANSACTION ? this.#lose(new TransactionOpen()) : error;
    });
    if (lock === undefined) {
      await this.send(START);
      return [];
    }
    const texts = [...(await this.#lock(lock, limits.lockTimeoutMs))];
    for (const statement of others) texts.push(...(await this.ask(statement)));
    await this.send(SAVEPOINT);
    return texts;
  }

  async #lock(lock: string, lockTimeoutMs: number): Promise<readonly string[]> {
    const untilMs = performance.now() + lockTimeoutMs;
    for (let leftMs = lockTimeoutMs; ; leftMs = Math.ceil(untilMs - performance.now())) {
      try {
        return await this.ask(atMost(leftMs, lock));
      } catch (error) {
        // Those who wait for a new row whose INSERT is rolled back may meet a deadlock, which has ended the transaction.
        if (!failures.isUndone(error) || performance.now() + 1 >= untilMs) throw error;
        await this.send(READ_COMMITTED);
        await this.send(START);
      }
    }
  }

  async ask(statement: string): Promise<readonly string[]> {
    return failures.textsOf(asRows(await this.send(statement)));
  }

  async runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    try {
      await withSavepoints(this.tx, work);
    } catch (error) {
      // Closed only after its failure has been kept.
      this.isSpoiled = failures.spoilsConnection(error);
      throw error;
    }
  }

  async commit(undo: boolean, statements: readonly string[]): Promise<void> {
    if (this.#loss.reason !== undefined) throw this.#loss.reason;
    const work = this.#hasWork ? leaveSavepoint(undo) : [];
    const commit = async (): Promise<void> => {
      for (const statement of [...work, ...statements]) await this.send(statement);
      this.#isEnding = true;
      await this.send(COMMIT);
      this.#isOpen = false;
      if (this.#hasWork) await this.send(RESTORE_ALL);
    };
    try {
      await this.#loss.within(this.#commandTimeoutMs, failures.noEndInTime, commit);
    } catch (error) {
      if (this.#isOpen) throw failures.explainFailedEnd(error);
      // The rest only restores the session.
      this.isSpoiled = true;
    }
  }

  /** Rolls back what is open. If that fails, the connection counts as lost, and is closed. */
  async rollBack(): Promise<void> {
    if (!this.#isOpen || this.#loss.reason !== undefined) return;
    this.#isOpen = false;
    const rollBack = async (): Promise<void> => {
      await this.send(ROLLBACK);
      if (this.#hasWork) await this.send(RESTORE_ALL);
    };
    const rolling = this.#loss.within(this.#commandTimeoutMs, failures.noAnswerInTime, rollBack);
    await this.#loss.orSettled(rolling).catch((error) => this.#lose(toError(error)));
  }

  /** In a transaction that other code forgot to end, the statement might use an old snapshot. */
  async readAlone(statement: string): Promise<readonly string[]> {
    const before = statusOf(await this.send('DO 0'));
    if (before?.isInTransaction) throw this.#lose(new TransactionOpen());
    const texts = await this.ask(statement);
    if (before !== undefined && !before.isAutocommit) await this.send(COMMIT);
    return texts;
  }

  async changeAlone(statement: string): Promise<boolean | undefined> {
    let answer: unknown;
    try {
      answer = await this.send(statement);
    } catch (error) {
      // With autocommit off, the statement has begun a transaction.
      if (!failures.losesConnection(error)) await this.send(ROLLBACK);
      if (errnoOf(error) === READ_ONLY_TRANSACTION) return undefined;
      throw error;
    }
    const { isAutocommit, isInTransaction } = statusOf(answer) ?? {};
    const { affectedRows } = (answer ?? {}) as { affectedRows?: unknown };
    if (isAutocommit === undefined || typeof affectedRows !== 'number')
      throw failures.changedAnswer();
    if (!isAutocommit) {
      await this.send(ROLLBACK);
      return undefined;
    }
    // This closes the connection, which rolls back the statement and the transaction that other code forgot to end.
    if (isInTransaction) throw this.#lose(new TransactionOpen());
    return affectedRows > 0;
  }

  /** Sends one statement. May settle late, or never, after a loss. */
  async send(statement: string): Promise<unknown> {
    const located = await this.#location.in(statement, (query) => this.ask(query));
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        // The statement contains references, keys and bodies.
        const failure = withoutStatement(error);
        if (failures.losesConnection(failure)) this.#lose(this.lossBy(failure));
        reject(failure);
      };
      try {
        sendTo(this.tx, located, (error, given) => (error ? fail(error) : resolve(given)));
      } catch (error) {
        fail(error);
      }
    });
  }

  #lose(reason: Error): Error {
    this.#loss.report(reason);
    return reason;
  }
}

/** Undefined if a wrapper of the pool hides it. */
function sessionOf(connection: object): number | undefined {
  const { threadId } = connection as { readonly threadId?: unknown };
  return typeof threadId === 'number' ? threadId : undefined;
}

function serverClosed(): Error {
  return new Error('the server closed the connection');
}
