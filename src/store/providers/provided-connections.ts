import type { StoreError } from '../../errors.js';
import { invalidOption, LONGEST_TIMER_MS } from '../../protocol/options.js';
import { Loss } from '../loss.js';
import type { ServerFailures } from '../sql/server-failures.js';
import type {
  Ask,
  Connections,
  Deadline,
  Ending,
  OpenTransaction,
  ServerTimeouts,
} from '../sql/transactions.js';
import { hasEndedAlone } from './keep-off-lost.js';
import type { Begun, ProvidedTransaction } from './provided-transaction.js';
import type { TransactionProvider } from './provider.js';

/** A database engine under an ORM. */
export interface ProvidedEngine<Tx> {
  readonly failures: ServerFailures;
  open(begun: Begun<Tx>): ProvidedTransaction<Tx>;
  /** @throws {InvalidOptionError} when the merchant's transaction has ended */
  assertOpen(ask: Ask): Promise<void>;
  readonly change: (
    statement: string,
    alone: (statement: string) => Promise<readonly object[]>,
  ) => Promise<boolean | undefined>;
}

/** The connections of an ORM. Its own deadlines apply in addition. */
export function providedConnections<Tx>(
  provider: TransactionProvider<Tx>,
  timeouts: ServerTimeouts,
  engine: ProvidedEngine<Tx>,
): Connections<Tx> {
  const { failures } = engine;
  const { acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs } = timeouts;
  const ofWork = {
    timeoutMs: transactionTimeoutMs,
    createError: failures.noEndOfWorkInTime,
  };
  const timeoutMs = Math.min(acquireTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
  const alone = (statement: string): Promise<readonly object[]> => {
    const loss = new Loss();
    return loss.within(timeoutMs, failures.noStepInTime, () =>
      loss.orSettled(provider.query(provider.database, statement)),
    );
  };
  return {
    isSingle: provider.isSingle,
    // The ORM waits for a connection, and can't be told to stop.
    runsLate: true,
    run(body, deadline = ofWork) {
      const run = new Run({ engine, provider, timeouts, body, deadline });
      return run.loss.orSettled(run.settle());
    },
    read: async (statement) => failures.textsOf(await alone(statement)),
    change: (statement) => engine.change(statement(), alone),
    async runIn(tx, body) {
      if (!provider.isTransaction(tx ?? {})) {
        const expected = `a transaction of ${provider.orm}: the one that it, or the store, passes to your code`;
        throw invalidOption('tx', expected, tx);
      }
      const ask: Ask = async (statement) => failures.textsOf(await provider.query(tx, statement));
      await engine.assertOpen(ask);
      return body(ask);
    },
  };
}

/** Thrown through the ORM to make it roll back. */
class Undo extends Error {
  override readonly name = 'Undo';

  constructor() {
    super('merchant-payments: the transaction is rolled back, because there is nothing to record');
  }
}

interface Scene<Tx, Result> {
  readonly engine: ProvidedEngine<Tx>;
  readonly provider: TransactionProvider<Tx>;
  readonly timeouts: ServerTimeouts;
  readonly body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>;
  readonly deadline: Deadline;
}

/** One transaction that the ORM begins, and commits or rolls back, from the call of the ORM until its promise settles. */
class Run<Tx, Result> {
  readonly loss = new Loss();
  readonly #scene: Scene<Tx, Result>;
  readonly #failures: ServerFailures;
  #transaction: ProvidedTransaction<Tx> | undefined;
  /** Known once only COMMIT or ROLLBACK is left to do. */
  #ending: Ending<Result> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;
  #hasSettled = false;
  #giveUp = (): void => undefined;

  constructor(scene: Scene<Tx, Result>) {
    this.#scene = scene;
    this.#failures = scene.engine.failures;
  }

  /** Settles when the transaction has ended, but may never do so after a loss. */
  async settle(): Promise<Result> {
    try {
      await this.#settleAtOrm();
      if (this.#failure !== undefined) throw this.#failure.error;
      // The ORM's promise resolves early if the work itself has ended the transaction.
      if (this.#ending === undefined) throw this.#lose(this.#failures.transactionEnded());
      if (this.#ending.end === 'commit') await this.#transaction?.assertCommitted();
      return this.#ending.result;
    } finally {
      clearTimeout(this.#end);
    }
  }

  async #settleAtOrm(): Promise<void> {
    const { provider, timeouts, deadline } = this.#scene;
    const { acquireTimeoutMs } = timeouts;
    const acquiring = this.#within(acquireTimeoutMs, (ms) => this.#failures.noConnectionInTime(ms));
    const givenUp = new Promise<void>((resolve) => {
      this.#giveUp = resolve;
    });
    const limits = { acquireTimeoutMs, transactionTimeoutMs: deadline.timeoutMs };
    try {
      const running = provider.transaction((tx) => {
        clearTimeout(acquiring);
        return this.#inTransaction(tx);
      }, limits);
      await Promise.race([running, givenUp]);
    } catch (error) {
      // The ORM's error is then the failure passed through, or a consequence of it.
      const isFailure = this.#failure !== undefined && !hasEndedAlone(error);
      if (isFailure || this.#ending?.end === 'rollback') return;
      throw this.#explain(error);
    } finally {
      this.#hasSettled = true;
      clearTimeout(acquiring);
    }
  }

  async #inTransaction(tx: Tx): Promise<void> {
    const { engine, provider, timeouts } = this.#scene;
    const transaction = engine.open({ provider, tx, loss: this.loss, timeouts });
    this.#transaction = transaction;
    try {
      this.#ending = await this.#runBody(transaction);
    } catch (error) {
      // The ORM can't be asked to roll back.
      if (this.#hasSettled) return new Promise(() => undefined);
      this.#failure = { error };
      throw error;
    } finally {
      this.#expectEnd();
    }
    if (this.#ending.end === 'rollback') throw new Undo();
  }

  /** Does everything but COMMIT or ROLLBACK. */
  async #runBody(transaction: ProvidedTransaction<Tx>): Promise<Ending<Result>> {
    const stopListening = await transaction.listen();
    const { timeoutMs, createError } = this.#scene.deadline;
    const deadline = this.#within(timeoutMs, createError);
    try {
      // Too late: the caller has already received the error that nothing was processed.
      if (this.loss.reason !== undefined) throw new Undo();
      const ending = await transaction.orDestroyed(this.#scene.body(transaction));
      if (ending.end === 'commit') await transaction.record(ending);
      if (this.loss.reason !== undefined) throw this.loss.reason;
      return ending;
    } finally {
      await transaction.leave();
      clearTimeout(deadline);
      stopListening();
    }
  }

  /** Starts the deadline of the COMMIT or ROLLBACK that the ORM sends now. */
  #expectEnd(): void {
    const { commandTimeoutMs } = this.#scene.timeouts;
    this.#end = setTimeout(() => {
      if (this.#ending?.end === 'commit') {
        this.loss.report(this.#failures.noEndInTime(commandTimeoutMs));
      }
      this.#giveUp();
    }, commandTimeoutMs);
  }

  #explain(error: unknown): unknown {
    if (this.#transaction === undefined) return this.#failures.noConnection(error);
    const cause = this.#failures.errorOfOrm(error);
    if (this.#ending !== undefined) return this.#failures.explainFailedEnd(cause);
    return this.#lose(
      this.#transaction.hasEnded
        ? this.#failures.transactionEnded()
        : this.#failures.connectionLost(cause),
    );
  }

  #lose(reason: StoreError): StoreError {
    this.loss.report(reason);
    return reason;
  }

  #within(timeoutMs: number, createError: (timeoutMs: number) => Error) {
    return setTimeout(() => this.loss.report(createError(timeoutMs)), timeoutMs);
  }
}
