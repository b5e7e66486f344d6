import type { StoreError } from '../../errors.js';
import { Loss } from '../loss.js';
import type { TransactionTimeouts } from '../sql/transaction-timeouts.js';
import type { Begun, EngineFailures, ProvidedTransaction } from './provided-transaction.js';
import type { TransactionProvider } from './provider.js';

/** How a body wants its transaction to end, for any engine. */
interface AnyEnding {
  readonly end: 'commit' | 'rollback' | 'nothing';
  readonly result: unknown;
}

/** A database engine under an ORM. */
export interface ProvidedEngine<Tx, Ending, Transaction> {
  readonly failures: EngineFailures;
  open(begun: Begun<Tx>): Transaction & ProvidedTransaction<Tx, Ending>;
}

/**
 * Runs `body` in a transaction that the ORM begins, and commits or rolls back. Rejects without
 * waiting for `body` if the connection is lost.
 */
export function runProvided<Tx, Ending extends AnyEnding, Transaction>(
  engine: ProvidedEngine<Tx, Ending, Transaction>,
  provider: TransactionProvider<Tx>,
  timeouts: TransactionTimeouts,
  body: (transaction: Transaction) => Promise<Ending>,
): Promise<Ending['result']> {
  const run = new Run(engine, provider, timeouts, body);
  return run.loss.orSettled(run.settle());
}

/** Thrown through the ORM to make it roll back. */
class Undo extends Error {
  override readonly name = 'Undo';

  constructor() {
    super('merchant-payments: the transaction is rolled back, because there is nothing to record');
  }
}

/** One transaction, from the call of the ORM until its promise has settled. */
class Run<Tx, Ending extends AnyEnding, Transaction> {
  readonly loss = new Loss();
  readonly #engine: ProvidedEngine<Tx, Ending, Transaction>;
  readonly #failures: EngineFailures;
  readonly #provider: TransactionProvider<Tx>;
  readonly #timeouts: TransactionTimeouts;
  readonly #body: (transaction: Transaction) => Promise<Ending>;
  #transaction: ProvidedTransaction<Tx, Ending> | undefined;
  /** Known once only COMMIT or ROLLBACK is left to do. */
  #ending: Ending | undefined;
  #failure: { readonly error: unknown } | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;
  #hasSettled = false;
  #answer = (): void => undefined;
  readonly #answered = new Promise<void>((resolve) => {
    this.#answer = resolve;
  });
  #giveUp = (): void => undefined;

  constructor(
    engine: ProvidedEngine<Tx, Ending, Transaction>,
    provider: TransactionProvider<Tx>,
    timeouts: TransactionTimeouts,
    body: (transaction: Transaction) => Promise<Ending>,
  ) {
    this.#engine = engine;
    this.#failures = engine.failures;
    this.#provider = provider;
    this.#timeouts = timeouts;
    this.#body = body;
  }

  /** Settles when the transaction has ended, but may never do so after a loss. */
  async settle(): Promise<Ending['result']> {
    try {
      await this.#settleAtOrm();
      if (this.#failure !== undefined) throw this.#failure.error;
      // The ORM's promise resolves early if the work itself has ended the transaction.
      if (this.#ending === undefined) throw this.#lose(this.#failures.transactionEnded());
      if (this.#ending.end === 'commit') await this.#transaction?.assertCommitted(this.#ending);
      return this.#ending.result;
    } finally {
      clearTimeout(this.#end);
    }
  }

  async #settleAtOrm(): Promise<void> {
    const acquiring = this.#within(this.#timeouts.acquireTimeoutMs, (ms) =>
      this.#failures.noConnectionInTime(ms),
    );
    const givenUp = new Promise<void>((resolve) => {
      this.#giveUp = resolve;
    });
    try {
      const running = this.#provider.transaction((tx) => {
        clearTimeout(acquiring);
        return this.#inTransaction(tx);
      }, this.#timeouts);
      await Promise.race([running, givenUp]);
    } catch (error) {
      // The ORM's error is the failure passed through, or a consequence of it.
      if (this.#failure !== undefined || this.#ending?.end === 'rollback') return;
      throw this.#explain(error);
    } finally {
      this.#hasSettled = true;
      this.#answer();
      clearTimeout(acquiring);
    }
  }

  async #inTransaction(tx: Tx): Promise<void> {
    const transaction = this.#engine.open({
      provider: this.#provider,
      tx,
      loss: this.loss,
      timeouts: this.#timeouts,
    });
    this.#transaction = transaction;
    try {
      this.#ending = await this.#runBody(transaction);
    } catch (error) {
      if (await this.#hasNoRollback(error)) return new Promise(() => undefined);
      this.#failure = { error };
      throw error;
    } finally {
      this.#expectEnd();
    }
    if (this.#ending.end === 'rollback') throw new Undo();
  }

  /** Does everything but COMMIT or ROLLBACK. */
  async #runBody(transaction: Transaction & ProvidedTransaction<Tx, Ending>): Promise<Ending> {
    const stopListening = await transaction.listen();
    const deadline = this.#within(this.#timeouts.transactionTimeoutMs, (ms) =>
      this.#failures.noEndOfWorkInTime(ms),
    );
    try {
      // Too late: the caller has already received the error that nothing was processed.
      if (this.loss.reason !== undefined) throw new Undo();
      const ending = await transaction.orDestroyed(this.#body(transaction));
      if (ending.end === 'commit') await transaction.record(ending);
      if (this.loss.reason !== undefined) throw this.loss.reason;
      return ending;
    } finally {
      await transaction.leave();
      clearTimeout(deadline);
      stopListening();
    }
  }

  /** Whether the ORM's promise has settled, so that it can't be asked to roll back. Waits for it if it may soon do so. */
  async #hasNoRollback(error: unknown): Promise<boolean> {
    if (!this.#hasSettled && this.#provider.rejectsOnLoss && this.#failures.mayBeLoss(error)) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const tooLong = new Promise((resolve) => {
        timer = setTimeout(resolve, this.#timeouts.commandTimeoutMs);
      });
      await Promise.race([this.#answered, tooLong]);
      clearTimeout(timer);
    }
    return this.#hasSettled;
  }

  /** Starts the deadline of the COMMIT or ROLLBACK that the ORM sends now. */
  #expectEnd(): void {
    const { commandTimeoutMs } = this.#timeouts;
    this.#end = setTimeout(() => {
      if (this.#ending?.end === 'commit') {
        this.loss.report(this.#failures.noEndInTime(commandTimeoutMs));
      }
      this.#giveUp();
    }, commandTimeoutMs);
  }

  #explain(error: unknown): unknown {
    const { connectionLost, databaseErrorOf, explainFailedEnd, transactionEnded } = this.#failures;
    if (this.#ending !== undefined) return explainFailedEnd(databaseErrorOf(error));
    // The transaction has not begun.
    if (this.#transaction === undefined) return error;
    return this.#lose(this.#transaction.hasEnded ? transactionEnded() : connectionLost(error));
  }

  #lose(reason: StoreError): StoreError {
    this.loss.report(reason);
    return reason;
  }

  #within(timeoutMs: number, createError: (timeoutMs: number) => StoreError) {
    return setTimeout(() => this.loss.report(createError(timeoutMs)), timeoutMs);
  }
}
