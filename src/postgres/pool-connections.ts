import { Loss, toError } from '../store/loss.js';
import { runWithView } from '../store/providers/work-view.js';
import type { ServerTimeouts } from '../store/sql/server-options.js';
import {
  type Connections,
  type Deadline,
  type Ending,
  type OpenTransaction,
  RELEASE,
  SAVEPOINT,
} from '../store/sql/transactions.js';
import { failures, sqlStateOf } from './failures.js';
import { runInTransaction } from './merchants-transaction.js';
import {
  assertClient,
  type PgClientLike,
  type PgPoolLike,
  type Queryable,
  statusOf,
} from './pool.js';
import { begin, DURABLY } from './settings.js';

/** The answer to one statement. */
interface Answer {
  readonly rows: readonly object[];
  readonly rowCount?: number | null;
}

/** The connections of a pool. */
export function poolConnections<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  timeouts: ServerTimeouts,
): Connections<Tx> {
  const { commandTimeoutMs, transactionTimeoutMs } = timeouts;
  const ofWork = { timeoutMs: transactionTimeoutMs, createError: failures.noEndOfWorkInTime };
  const ofStep = { timeoutMs: commandTimeoutMs, createError: failures.noStepInTime };
  return {
    run: (body, deadline = ofWork) =>
      new Connection(pool, timeouts, deadline).use(async (connection) => {
        const ending = await body(connection);
        await connection.end(ending);
        return ending.result;
      }),
    read: (statement) =>
      new Connection(pool, timeouts, ofStep).use((connection) => connection.ask(statement)),
    change: (statement, lockTimeoutMs) =>
      new Connection(pool, timeouts, ofStep).use((connection) =>
        connection.change(statement, lockTimeoutMs),
      ),
    runIn: runInTransaction,
  };
}

/** A connection while a store has it. */
class Connection<Tx extends Queryable> extends Loss implements OpenTransaction<Tx> {
  /** Known once the pool has returned it. */
  declare tx: Tx & PgClientLike;
  readonly #pool: PgPoolLike<Tx>;
  readonly #timeouts: ServerTimeouts;
  readonly #deadline: Deadline;
  readonly #onError: OnError = (error) => this.#lose(error);
  #startedAtMs = 0;
  /** Whether a transaction may be open at the server. */
  #isOpen = false;
  #hasBegun = false;
  #hasSavepoint = false;
  /** Whether COMMIT was sent, so that a loss leaves its outcome unknown. */
  #isEnding = false;

  constructor(pool: PgPoolLike<Tx>, timeouts: ServerTimeouts, deadline: Deadline) {
    super();
    this.#pool = pool;
    this.#timeouts = timeouts;
    this.#deadline = deadline;
  }

  /** Takes the connection, uses it and gives it back, with no transaction open. */
  async use<Value>(act: (connection: this) => Promise<Value>): Promise<Value> {
    this.limit(this.#timeouts.acquireTimeoutMs, failures.noConnectionInTime);
    try {
      await this.orSettled(this.#take());
      this.#startedAtMs = performance.now();
      const status = statusOf(this.tx);
      // Other code released the client without ending its transaction.
      if (status === 'T' || status === 'E') this.report(failures.foreignTransaction());
      if (this.reason !== undefined) throw this.reason;
      this.#limit();
      return await this.orSettled(act(this));
    } catch (error) {
      if (this.tx === undefined) throw error;
      if (failures.spoilsConnection(error)) this.report(toError(error));
      await this.#rollBack();
      throw !this.#hasBegun && failures.isLost(error) ? failures.lostBeforeBegin(error) : error;
    } finally {
      this.unlimited();
      if (this.tx !== undefined) release(this.tx, this.#onError, this.reason);
    }
  }

  /** Takes a connection from the pool, and listens to it immediately. */
  #take(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => reject(failures.noConnection(error));
      const connected = (error: unknown, client: Tx & PgClientLike): void => {
        try {
          if (error) throw error;
          assertClient(client);
          client.on('error', this.#onError);
          // A request to the pool can't be cancelled, so a late connection must be released.
          if (this.reason !== undefined) setImmediate(releaseLate, client, this.#onError);
          else this.tx = client;
          resolve();
        } catch (wrong) {
          fail(wrong);
        }
      };
      // By a callback if the pool accepts one, as pg's does: a connection may break in the same turn of the event loop in
      // which it was made, before then() could attach a listener.
      const { connect } = this.#pool;
      if (connect.length === 0) {
        connect.call(this.#pool).then((client) => connected(undefined, client), fail);
      } else {
        (connect as (callback: typeof connected) => unknown).call(this.#pool, connected);
      }
    });
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
    const before = this.#hasBegun ? [] : [begin(this.#timeouts, lockTimeoutMs)];
    this.#hasSavepoint = statements.length > 0;
    const after = this.#hasSavepoint ? [SAVEPOINT] : [];
    this.#limit(lockTimeoutMs + this.#timeouts.commandTimeoutMs);
    const answers = await this.#send([...before, ...statements, ...after].join('; '));
    this.#hasBegun = true;
    this.#limit();
    return answers.flatMap(({ rows }) => failures.textsOf(rows));
  }

  async ask(statement: string): Promise<readonly string[]> {
    return failures.textsOf((await this.#send(statement))[0]?.rows);
  }

  /** One statement in its own transaction. */
  async change(statement: string, lockTimeoutMs: number): Promise<boolean> {
    // If the connection is lost now, it may have committed.
    this.#hasBegun = true;
    const before = begin(this.#timeouts, lockTimeoutMs);
    const answers = await this.#send([before, DURABLY, statement, 'COMMIT'].join('; '));
    this.#isOpen = false;
    const { rowCount } = answers.at(-2) ?? {};
    if (typeof rowCount !== 'number') throw failures.changedAnswer();
    return rowCount > 0;
  }

  runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    return runWithView<Tx>((end) => end.viewOf(this.tx), work);
  }

  async end(ending: Ending<unknown>): Promise<void> {
    if (this.reason !== undefined) throw this.reason;
    if (ending.end === 'rollback') return this.#rollBack();
    const before = this.#hasSavepoint ? [RELEASE, DURABLY] : [DURABLY];
    this.limit(this.#timeouts.commandTimeoutMs, failures.noEndInTime);
    this.#isEnding = true;
    try {
      await this.#send([...before, ...ending.statements, 'COMMIT'].join('; '));
    } catch (error) {
      throw failures.explainFailedEnd(error);
    }
    this.#isOpen = false;
  }

  /** Rolls back what is open. If that fails, the connection counts as lost, and is closed. */
  async #rollBack(): Promise<void> {
    if (!this.#isOpen || this.reason !== undefined) return;
    this.limit(this.#timeouts.commandTimeoutMs, failures.noAnswerInTime);
    const rolling = this.#send('ROLLBACK');
    this.#isOpen = false;
    await this.orSettled(rolling).catch((error) => this.report(toError(error)));
  }

  /** May settle late, or never, after a loss. */
  async #send(text: string): Promise<readonly Answer[]> {
    this.#isOpen = true;
    try {
      const answer: unknown = await this.tx.query(text);
      return (Array.isArray(answer) ? answer : [answer]) as readonly Answer[];
    } catch (error) {
      // Not an answer from Postgres: the next answer on this connection may belong to this statement.
      if (sqlStateOf(error) === undefined) this.#lose(error);
      throw error;
    }
  }

  #lose(error: unknown): void {
    this.report(this.#isEnding ? failures.endUnknown(error) : failures.connectionLost(error));
  }
}

type OnError = (error: Error) => void;

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
  // Not from a client that the pool closes, to which the server may still say why it ends the connection: without a
  // listener, that would end the process. Before release(), which adds the pool's own: the other way round, V8 keeps what
  // the listener refers to until the next full collection.
  if (broken === undefined) client.removeListener('error', onError);
  client.release(broken);
}
