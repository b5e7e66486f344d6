import type { EventEmitter } from 'node:events';
import { invalidOption, LONGEST_TIMER_MS } from '../../protocol/options.js';
import { Loss } from '../loss.js';
import type { ServerFailures } from '../sql/server-failures.js';
import type { ServerTimeouts } from '../sql/server-options.js';
import type { Ask, Connections, Deadline, Ending, OpenTransaction } from '../sql/transactions.js';
import { RELEASE, SAVEPOINT } from '../sql/transactions.js';
import { hasMethods, type TransactionProvider } from './provider.js';
import { runWithView } from './work-view.js';

/** A database engine under an ORM. */
export interface ProvidedEngine {
  readonly failures: ServerFailures;
  /** The statement with which a transaction begins, after those of the ORM. */
  settings(limits: ServerTimeouts): string | undefined;
  /** Limits the wait for the lock of an order. */
  atMost(timeoutMs: number, lock: string): string;
  /** @throws {InvalidOptionError} when the merchant's transaction has ended */
  assertOpen(ask: Ask): Promise<void>;
}

/** The connections of an ORM, which begins transactions, and commits or rolls back. Its own deadlines apply as well. */
export function providedConnections<Tx>(
  provider: TransactionProvider<Tx>,
  timeouts: ServerTimeouts,
  engine: ProvidedEngine,
): Connections<Tx> {
  const { failures, assertOpen } = engine;
  const { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs } = timeouts;
  const ofWork = { timeoutMs: transactionTimeoutMs, createError: failures.noEndOfWorkInTime };
  return {
    run(body, deadline = ofWork) {
      const transaction = new ProvidedTransaction(provider, timeouts, engine);
      return transaction.orSettled(transaction.run(body, deadline));
    },
    async read(statement) {
      const loss = new Loss();
      const timeoutMs = Math.min(acquireTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
      loss.limit(timeoutMs, failures.noStepInTime);
      const reading = provider.query(provider.database, statement);
      const rows = await loss.orSettled(reading).finally(() => loss.unlimited());
      return failures.textsOf(rows);
    },
    // In a step, which does nothing once its caller has given up: an ORM can't be told to stop waiting for a connection.
    change: async () => undefined,
    async runIn(tx, body) {
      if (!provider.isTransaction(tx ?? {})) {
        const expected = `a transaction of ${provider.orm}: the one that it, or the store, passes to your code`;
        throw invalidOption('tx', expected, tx);
      }
      const ask: Ask = async (statement) => failures.textsOf(await provider.query(tx, statement));
      await assertOpen(ask);
      return body(ask);
    },
  };
}

/** Waits until the ORM has heard of a broken connection: its transaction rejects after the statement, in the same turn. */
async function lossHeard(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await new Promise(setImmediate);
}

/** Thrown through the ORM to make it roll back. */
class Undo extends Error {
  override readonly name = 'Undo';
}

/** One transaction of an ORM. */
class ProvidedTransaction<Tx> extends Loss implements OpenTransaction<Tx> {
  /** Known once the ORM has begun. */
  declare tx: Tx;
  readonly #provider: TransactionProvider<Tx>;
  readonly #timeouts: ServerTimeouts;
  readonly #engine: ProvidedEngine;
  #hasBegun = false;
  #hasSavepoint = false;

  constructor(provider: TransactionProvider<Tx>, timeouts: ServerTimeouts, engine: ProvidedEngine) {
    super();
    this.#provider = provider;
    this.#timeouts = timeouts;
    this.#engine = engine;
  }

  async run<Result>(
    body: (transaction: this) => Promise<Ending<Result>>,
    deadline: Deadline,
  ): Promise<Result> {
    const { failures } = this.#engine;
    const { acquireTimeoutMs } = this.#timeouts;
    let ending: Ending<Result> | undefined;
    let failure: { readonly error: unknown } | undefined;
    let hasSettled = false;
    const limits = { acquireTimeoutMs, transactionTimeoutMs: deadline.timeoutMs };
    this.limit(acquireTimeoutMs, failures.noConnectionInTime);
    try {
      await this.#provider.transaction(async (tx) => {
        this.tx = tx;
        this.#hasBegun = true;
        try {
          ending = await this.#runBody(body, deadline);
        } catch (error) {
          await lossHeard();
          // There is nothing left to roll back. Asked to, postgres.js ends the process, or hangs on its next connection.
          if (hasSettled) return new Promise(() => undefined);
          failure = { error };
          throw error;
        }
        if (ending.end === 'rollback') throw new Undo();
      }, limits);
    } catch (error) {
      if (failure !== undefined) throw failure.error;
      if (!this.#hasBegun) throw failures.noConnection(error);
      if (ending?.end !== 'rollback') {
        const cause = failures.causeOf(error);
        throw this.#lose(
          ending === undefined ? failures.connectionLost(cause) : failures.explainFailedEnd(cause),
        );
      }
    } finally {
      hasSettled = true;
      this.unlimited();
    }
    // The ORM's promise resolves early if the work itself has ended the transaction.
    if (ending === undefined) throw this.#lose(failures.transactionEnded());
    return ending.result;
  }

  /** Does everything but COMMIT or ROLLBACK. */
  async #runBody<Result>(
    body: (transaction: this) => Promise<Ending<Result>>,
    { timeoutMs, createError }: Deadline,
  ): Promise<Ending<Result>> {
    const { failures } = this.#engine;
    // Too late: the caller has already received the error that nothing was processed.
    this.#assertNotLost();
    this.limit(timeoutMs, createError);
    const stopListening = await this.#listen();
    try {
      const ending = await body(this);
      if (ending.end === 'commit') await this.#record(ending.statements);
      this.#assertNotLost();
      this.limit(this.#timeouts.commandTimeoutMs, failures.noEndInTime);
      return ending;
    } finally {
      stopListening();
    }
  }

  /** Hears of the loss of the connection, if the ORM shows it. */
  async #listen(): Promise<() => void> {
    const { failures } = this.#engine;
    const connection = await this.#provider.connectionOf?.(this.tx);
    if (!hasMethods(connection, ['on', 'removeListener'])) return () => undefined;
    const lost = (error = new Error('the server closed the connection')) =>
      this.report(failures.connectionLost(failures.causeOf(error)));
    const emitter = connection as EventEmitter;
    for (const event of ['error', 'end']) emitter.on(event, lost);
    return () => {
      for (const event of ['error', 'end']) emitter.removeListener(event, lost);
    };
  }

  async #record(statements: readonly string[]): Promise<void> {
    const { failures } = this.#engine;
    for (const statement of [...(this.#hasSavepoint ? [RELEASE] : []), ...statements]) {
      await this.#query(statement).catch((error: unknown) => {
        const isLost = failures.losesConnection(error);
        throw isLost ? failures.connectionLost(error) : failures.explainFailedEnd(error);
      });
    }
  }

  async begin(
    lockTimeoutMs: number,
    [lock, ...others]: readonly string[],
  ): Promise<readonly string[]> {
    const { settings, atMost } = this.#engine;
    const before = [this.#provider.firstStatement, settings({ ...this.#timeouts, lockTimeoutMs })];
    for (const statement of this.#hasSavepoint ? [] : before) {
      if (statement !== undefined) await this.#query(statement);
    }
    if (lock === undefined) return [];
    const texts = [...(await this.ask(atMost(lockTimeoutMs, lock)))];
    for (const statement of others) texts.push(...(await this.ask(statement)));
    await this.#query(SAVEPOINT);
    this.#hasSavepoint = true;
    return texts;
  }

  async ask(statement: string): Promise<readonly string[]> {
    return this.#engine.failures.textsOf(await this.#query(statement));
  }

  async #query(statement: string): Promise<readonly object[]> {
    // An answer after the loss must not start the work, and some drivers end the process at a statement after it.
    this.#assertNotLost();
    try {
      return await this.#provider.query(this.tx, statement);
    } catch (error) {
      throw this.#engine.failures.causeOf(error);
    } finally {
      this.#assertNotLost();
    }
  }

  runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    return runWithView((end) => this.#provider.forWork(this.tx, end), work);
  }

  #assertNotLost(): void {
    if (this.reason !== undefined) throw this.reason;
  }

  #lose(reason: unknown): unknown {
    if (reason instanceof Error) this.report(reason);
    return reason;
  }
}
