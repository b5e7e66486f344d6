import { Loss, toError } from '../store/loss.js';
import { TransactionOpen } from '../store/sql/transaction-open.js';
import type {
  ClaimLimits,
  Connections,
  Deadline,
  OpenTransaction,
  ServerTimeouts,
} from '../store/sql/transactions.js';
import {
  DEADLOCK,
  databaseErrorOf,
  errnoOf,
  explainFailedEnd,
  failures,
  IN_TRANSACTION,
  losesConnection,
  READ_ONLY_TRANSACTION,
  spoilsConnection,
  withoutStatement,
} from './failures.js';
import type { Location } from './location.js';
import { runInTransaction } from './merchants-transaction.js';
import type { MysqlPoolLike, MysqlQueryable } from './pool.js';
import { asRows, changedAnswer, sendTo, statusOf, textsOf } from './rows.js';
import { withSavepoints } from './savepoints.js';
import {
  atMost,
  COMMIT,
  leaveSavepoint,
  limitsOf,
  READ_COMMITTED,
  RESTORE,
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
    createError: (ms) => failures.noEndOfWorkInTime(ms),
  };
  const ofStatement: Deadline = {
    timeoutMs: commandTimeoutMs,
    createError: (ms) => failures.noStepInTime(ms),
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
      if (spoilsConnection(error)) loss.report(toError(error));
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

  async begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]> {
    const { lockTimeoutMs, commandTimeoutMs } = limits;
    const [lock, ...others] = statements;
    this.#isOpen = true;
    this.#hasWork = lock !== undefined;
    const within = <Value>(asking: Promise<Value>, ms: number) =>
      this.#within(asking, ms, (late) => failures.noAnswerInTime(late));
    if (this.#hasWork) await within(this.send(limitsOf(limits)), commandTimeoutMs);
    const start = async (): Promise<void> => {
      // START TRANSACTION would commit a transaction that other code forgot to end.
      await within(this.send(READ_COMMITTED), commandTimeoutMs).catch((error) => {
        throw errnoOf(error) === IN_TRANSACTION ? this.#lose(new TransactionOpen()) : error;
      });
      await within(this.send(START), commandTimeoutMs);
    };
    await start();
    if (lock === undefined) return [];
    const untilMs = performance.now() + lockTimeoutMs;
    for (let leftMs = lockTimeoutMs; ; leftMs = Math.ceil(untilMs - performance.now())) {
      try {
        await within(this.send(atMost(leftMs, lock)), leftMs + commandTimeoutMs);
        break;
      } catch (error) {
        // Those who wait for a new row whose INSERT is rolled back may meet a deadlock, which has ended the transaction.
        if (errnoOf(error) !== DEADLOCK || performance.now() + 1 >= untilMs) throw error;
        await start();
      }
    }
    let texts: readonly string[] = [];
    for (const statement of others) texts = await within(this.ask(statement), commandTimeoutMs);
    await within(this.send(SAVEPOINT), commandTimeoutMs);
    return texts;
  }

  async ask(statement: string): Promise<readonly string[]> {
    return textsOf(asRows(await this.send(statement)));
  }

  async runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    try {
      await withSavepoints(this.tx, work);
    } catch (error) {
      // Closed only after its failure has been kept.
      this.isSpoiled = spoilsConnection(databaseErrorOf(error));
      throw error;
    }
  }

  async commit(undo: boolean, statements: readonly string[]): Promise<void> {
    if (this.#loss.reason !== undefined) throw this.#loss.reason;
    const all = this.#hasWork
      ? [...leaveSavepoint(undo), ...statements, COMMIT, RESTORE]
      : [...statements, COMMIT];
    try {
      for (const statement of all) {
        this.#isEnding ||= statement === COMMIT;
        await this.#within(this.send(statement), this.#commandTimeoutMs, (ms) =>
          failures.noEndInTime(ms),
        );
        // The rest only restores the session.
        if (statement === COMMIT) this.#isOpen = false;
      }
    } catch (error) {
      if (this.#isOpen) throw explainFailedEnd(error);
      this.isSpoiled = true;
    }
  }

  /** Rolls back what is open. If that fails, the connection counts as lost, and is closed. */
  async rollBack(): Promise<void> {
    if (!this.#isOpen || this.#loss.reason !== undefined) return;
    this.#isOpen = false;
    try {
      for (const statement of this.#hasWork ? [ROLLBACK, RESTORE] : [ROLLBACK]) {
        const sending = this.#within(this.send(statement), this.#commandTimeoutMs, (ms) =>
          failures.noAnswerInTime(ms),
        );
        await this.#loss.orSettled(sending);
      }
    } catch (error) {
      this.#lose(toError(error));
    }
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
      if (!losesConnection(error)) await this.send(ROLLBACK);
      if (errnoOf(error) === READ_ONLY_TRANSACTION) return undefined;
      throw error;
    }
    const { isAutocommit, isInTransaction } = statusOf(answer) ?? {};
    const { affectedRows } = (answer ?? {}) as { affectedRows?: unknown };
    if (isAutocommit === undefined || typeof affectedRows !== 'number') throw changedAnswer();
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
        if (losesConnection(failure)) this.#lose(this.lossBy(failure));
        reject(failure);
      };
      try {
        sendTo(this.tx, located, (error, given) => (error ? fail(error) : resolve(given)));
      } catch (error) {
        fail(error);
      }
    });
  }

  async #within<Value>(
    asking: Promise<Value>,
    timeoutMs: number,
    createError: (timeoutMs: number) => Error,
  ): Promise<Value> {
    const timer = setTimeout(() => this.#lose(createError(timeoutMs)), timeoutMs);
    try {
      return await asking;
    } finally {
      clearTimeout(timer);
    }
  }

  #lose(reason: Error): Error {
    this.#loss.report(reason);
    return reason;
  }
}

/** NaN if a wrapper of the pool hides it. */
function sessionOf(connection: object): number {
  return Number((connection as { readonly threadId?: unknown }).threadId);
}

function serverClosed(): Error {
  return new Error('the server closed the connection');
}
