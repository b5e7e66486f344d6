import { Loss, toError } from '../store/loss.js';
import { runWithView } from '../store/providers/work-view.js';
import { type ServerTimeouts, silenceLimitMs } from '../store/sql/server-options.js';
import {
  type Connections,
  type Deadline,
  type Ending,
  type OpenTransaction,
  RELEASE,
  SAVEPOINT,
} from '../store/sql/transactions.js';
import { errnoOf, failures, IN_TRANSACTION, withoutStatement } from './failures.js';
import { runInTransaction } from './merchants-transaction.js';
import {
  type MysqlConnectionLike,
  type MysqlPoolLike,
  type MysqlQueryable,
  releaseOrDestroy,
  takeConnection,
} from './pool.js';
import { asRows, sendTo } from './rows.js';
import {
  atMost,
  block,
  COMMIT,
  HAS_BLOCKS,
  limitIdle,
  READ_COMMITTED,
  RESTORE_IDLE,
  ROLLBACK,
  START,
} from './session.js';

/** What the connections of a pool share. */
interface OfPool<Tx extends MysqlQueryable> {
  readonly pool: MysqlPoolLike<Tx>;
  readonly timeouts: ServerTimeouts;
  /** Whether the server runs a {@link block}; undefined before it was asked. */
  hasBlocks: boolean | undefined;
}

/** The connections of a pool. */
export function poolConnections<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  timeouts: ServerTimeouts,
): Connections<Tx> {
  const { commandTimeoutMs, transactionTimeoutMs } = timeouts;
  const ofPool: OfPool<Tx> = { pool, timeouts, hasBlocks: undefined };
  const ofWork = { timeoutMs: transactionTimeoutMs, createError: failures.noEndOfWorkInTime };
  const ofStep = { timeoutMs: commandTimeoutMs, createError: failures.noStepInTime };
  return {
    run: (body, deadline = ofWork) =>
      new Connection(ofPool, deadline).use(async (connection) => {
        const ending = await body(connection);
        await connection.end(ending);
        return ending.result;
      }),
    read: (statement) =>
      new Connection(ofPool, ofStep).use((connection) => connection.read(statement)),
    change: (statement, lockTimeoutMs) =>
      new Connection(ofPool, ofStep).use((connection) =>
        connection.change(statement, lockTimeoutMs),
      ),
    runIn: runInTransaction,
  };
}

/** A connection while a store has it. */
class Connection<Tx extends MysqlQueryable> extends Loss implements OpenTransaction<Tx> {
  /** Known once the pool has returned it. */
  declare tx: Tx & MysqlConnectionLike;
  readonly #of: OfPool<Tx>;
  readonly #deadline: Deadline;
  #startedAtMs = 0;
  /** Whether a transaction may be open at the server. */
  #isOpen = false;
  #hasBegun = false;
  #hasSavepoint = false;
  /** Whether the session's own limit must be restored, also after a claim that fails. */
  #isLimited = false;
  /** Whether COMMIT was sent, so that a loss leaves its outcome unknown. */
  #isEnding = false;

  constructor(ofPool: OfPool<Tx>, deadline: Deadline) {
    super();
    this.#of = ofPool;
    this.#deadline = deadline;
  }

  /** Takes the connection, uses it and gives it back, with no transaction open. */
  async use<Value>(act: (connection: this) => Promise<Value>): Promise<Value> {
    const { pool, timeouts } = this.#of;
    const onLost = (error = new Error('the server closed the connection')) => this.#lose(error);
    this.limit(timeouts.acquireTimeoutMs, failures.noConnectionInTime);
    try {
      this.tx = await this.orSettled(takeConnection(pool, onLost, this));
      this.#startedAtMs = performance.now();
      this.#limit();
      return await this.orSettled(this.#usedBy(act));
    } catch (error) {
      if (failures.spoilsConnection(error)) this.report(toError(error));
      await this.#rollBack();
      throw error;
    } finally {
      this.unlimited();
      if (this.tx !== undefined) releaseOrDestroy(this.tx, onLost, this.reason !== undefined);
    }
  }

  async #usedBy<Value>(act: (connection: this) => Promise<Value>): Promise<Value> {
    const ofPool = this.#of;
    if (ofPool.hasBlocks === undefined) {
      this.#limit(ofPool.timeouts.commandTimeoutMs);
      const [answer] = await this.ask(HAS_BLOCKS);
      ofPool.hasBlocks = answer !== 'no';
      this.#limit();
    }
    return act(this);
  }

  /**
   * Limits what follows, by the deadline of the transaction if that is earlier: on a network that swallows packets, nothing
   * else ends a statement.
   */
  #limit(limitMs = Number.POSITIVE_INFINITY): void {
    const { timeoutMs, createError } = this.#deadline;
    const endsAtMs = this.#startedAtMs + timeoutMs;
    if (performance.now() + limitMs < endsAtMs) this.limit(limitMs, failures.noAnswerInTime);
    else this.limit(timeoutMs, createError, endsAtMs);
  }

  async begin(lockTimeoutMs: number, statements: readonly string[]): Promise<readonly string[]> {
    const { hasBlocks, timeouts } = this.#of;
    this.#limit(lockTimeoutMs + timeouts.commandTimeoutMs);
    const texts = hasBlocks
      ? await this.#beginInBlock(lockTimeoutMs, statements)
      : await this.#beginPlainly(lockTimeoutMs, statements);
    this.#hasBegun = true;
    this.#hasSavepoint = statements.length > 0;
    this.#limit();
    return texts;
  }

  #beginInBlock(lockTimeoutMs: number, statements: readonly string[]): Promise<readonly string[]> {
    const isOfWork = statements.length > 0;
    const limits = isOfWork ? [limitIdle(silenceLimitMs(this.#of.timeouts))] : [];
    this.#isLimited = isOfWork;
    const before = this.#hasBegun ? [] : [READ_COMMITTED, ...limits, START];
    const after = isOfWork ? [SAVEPOINT] : [];
    return this.#askBlock(atMost(lockTimeoutMs, block([...before, ...statements, ...after])));
  }

  async #beginPlainly(
    lockTimeoutMs: number,
    [lock, ...others]: readonly string[],
  ): Promise<readonly string[]> {
    const before = this.#hasBegun ? [] : [READ_COMMITTED, START];
    for (const statement of before) await this.#send(statement);
    if (lock === undefined) return [];
    const texts = [...(await this.ask(atMost(lockTimeoutMs, lock)))];
    for (const statement of others) texts.push(...(await this.ask(statement)));
    await this.#send(SAVEPOINT);
    return texts;
  }

  async ask(statement: string): Promise<readonly string[]> {
    return failures.textsOf(asRows(await this.#send(statement)));
  }

  /** Resolves with the texts of all SELECTs of a block. */
  async #askBlock(text: string): Promise<readonly string[]> {
    // The answer to the block itself comes last, and is no list.
    const answers = asRows(await this.#send(text)).filter((answer) => Array.isArray(answer));
    return answers.flatMap((rows) => failures.textsOf(rows));
  }

  /** One SELECT, whatever the session's autocommit is. */
  async read(statement: string): Promise<readonly string[]> {
    if (this.#of.hasBlocks) {
      const texts = await this.#askBlock(block([READ_COMMITTED, START, statement, COMMIT]));
      this.#isOpen = false;
      return texts;
    }
    await this.begin(this.#of.timeouts.lockTimeoutMs, []);
    const texts = await this.ask(statement);
    await this.end({ end: 'commit', result: undefined, statements: [] });
    return texts;
  }

  /** One statement in its own transaction. */
  async change(statement: string, lockTimeoutMs: number): Promise<boolean | undefined> {
    if (!this.#of.hasBlocks) return undefined;
    const count = 'SELECT CAST(ROW_COUNT() AS CHAR)';
    const all = block([READ_COMMITTED, START, statement, count, COMMIT]);
    this.#isEnding = true;
    const [changed] = await this.#askBlock(atMost(lockTimeoutMs, all));
    this.#isOpen = false;
    return Number(changed) > 0;
  }

  runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    return runWithView<Tx>((end) => end.viewOf(this.tx), work);
  }

  async end(ending: Ending<unknown>): Promise<void> {
    if (this.reason !== undefined) throw this.reason;
    if (ending.end === 'rollback') return this.#rollBack();
    const before = this.#hasSavepoint ? [RELEASE] : [];
    const statements = [...before, ...ending.statements];
    this.limit(this.#of.timeouts.commandTimeoutMs, failures.noEndInTime);
    try {
      if (this.#of.hasBlocks) {
        this.#isEnding = true;
        await this.#send(block([...statements, COMMIT, ...this.#restore]));
      } else {
        for (const statement of statements) await this.#send(statement);
        this.#isEnding = true;
        await this.#send(COMMIT);
      }
    } catch (error) {
      throw failures.explainFailedEnd(error);
    }
    this.#isOpen = false;
  }

  get #restore(): readonly string[] {
    return this.#isLimited ? [RESTORE_IDLE] : [];
  }

  /** Rolls back what is open. If that fails, the connection counts as lost, and is closed. */
  async #rollBack(): Promise<void> {
    if (!this.#isOpen || this.reason !== undefined) return;
    this.limit(this.#of.timeouts.commandTimeoutMs, failures.noAnswerInTime);
    const rolling = this.#send(this.#of.hasBlocks ? block([ROLLBACK, ...this.#restore]) : ROLLBACK);
    this.#isOpen = false;
    await this.orSettled(rolling).catch((error) => this.report(toError(error)));
  }

  /** Sends one statement. May settle late, or never, after a loss. */
  #send(statement: string): Promise<unknown> {
    this.#isOpen = true;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        // The statement contains references, keys and bodies.
        const failure = withoutStatement(error);
        if (failures.losesConnection(failure)) this.#lose(failure);
        // The connection of other code, whose transaction START would commit.
        const isOthers = errnoOf(failure) === IN_TRANSACTION;
        if (isOthers) this.report(failures.foreignTransaction());
        reject(isOthers ? this.reason : failure);
      };
      try {
        sendTo(this.tx, statement, (error, given) => (error ? fail(error) : resolve(given)));
      } catch (error) {
        fail(error);
      }
    });
  }

  #lose(error: unknown): void {
    this.report(this.#isEnding ? failures.endUnknown(error) : failures.connectionLost(error));
  }
}
