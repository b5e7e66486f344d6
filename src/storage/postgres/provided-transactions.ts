import type { InboxError } from '../../errors.js';
import type { TransactionProvider } from '../providers/provider.js';
import {
  connectionLost,
  databaseErrorOf,
  explainFailedEnd,
  mayBeLoss,
  noConnectionInTime,
  noEndInTime,
  noEndOfWorkInTime,
  transactionAborted,
  transactionEnded,
  unconfirmedEnd,
} from './failures.js';
import { Loss, type PgTimeouts } from './pg-transactions.js';
import { ProvidedTransaction } from './provided-transaction.js';
import type { Ending, OpenTransaction, Transactions } from './transactions.js';

/** Transactions that an ORM owns: it begins them, and commits or rolls back. */
export function providedTransactions<Tx>(
  provider: TransactionProvider<Tx>,
  timeouts: PgTimeouts,
): Transactions<Tx> {
  return {
    run(body) {
      const run = new Run(provider, timeouts, body);
      return run.loss.orSettled(run.settle());
    },
  };
}

type Body<Tx, Result> = (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>;

/** Thrown through the ORM, so that it rolls back. */
class Undo extends Error {
  override readonly name = 'Undo';

  constructor() {
    super('merchant-payments: the transaction is rolled back, as there is nothing to record');
  }
}

/** One transaction, from the call of the ORM until it has answered. */
class Run<Tx, Result> {
  readonly loss = new Loss();
  readonly #provider: TransactionProvider<Tx>;
  readonly #timeouts: PgTimeouts;
  readonly #body: Body<Tx, Result>;
  #transaction: ProvidedTransaction<Tx> | undefined;
  /** Known when all is done but COMMIT or ROLLBACK. */
  #ending: Ending<Result> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;
  #hasSettled = false;
  #answer = (): void => undefined;
  readonly #answered = new Promise<void>((resolve) => {
    this.#answer = resolve;
  });
  #giveUp = (): void => undefined;

  constructor(provider: TransactionProvider<Tx>, timeouts: PgTimeouts, body: Body<Tx, Result>) {
    this.#provider = provider;
    this.#timeouts = timeouts;
    this.#body = body;
  }

  /** Settles when the transaction has ended. To be waited for no longer than until the loss. */
  async settle(): Promise<Result> {
    try {
      await this.#settleAtOrm();
      if (this.#failure !== undefined) throw this.#failure.error;
      // The ORM answers early when the work has ended the transaction by itself.
      if (this.#ending === undefined) throw this.#lose(transactionEnded());
      if (this.#ending.end === 'commit') await this.#confirm();
      return this.#ending.result;
    } finally {
      clearTimeout(this.#end);
    }
  }

  async #settleAtOrm(): Promise<void> {
    const acquiring = this.#within(this.#timeouts.acquireTimeoutMs, noConnectionInTime);
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
      // What it threw is what it was given, or follows from that.
      if (this.#failure !== undefined || this.#ending?.end === 'rollback') return;
      throw this.#explain(error);
    } finally {
      this.#hasSettled = true;
      this.#answer();
      clearTimeout(acquiring);
    }
  }

  async #inTransaction(tx: Tx): Promise<void> {
    const transaction = new ProvidedTransaction(this.#provider, tx, this.loss, this.#timeouts);
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
  async #runBody(transaction: ProvidedTransaction<Tx>): Promise<Ending<Result>> {
    const stopListening = await transaction.listen();
    const deadline = this.#within(this.#timeouts.transactionTimeoutMs, noEndOfWorkInTime);
    try {
      // Late: its caller has had the error that nothing was processed.
      if (this.loss.reason !== undefined) throw new Undo();
      const ending = await transaction.orDestroyed(this.#body(transaction));
      if (ending.end === 'commit') await transaction.record(ending.statements ?? []);
      if (this.loss.reason !== undefined) throw this.loss.reason;
      return ending;
    } finally {
      clearTimeout(deadline);
      stopListening();
    }
  }

  /** Whether the ORM has answered, or will, without being told of the failure. */
  async #hasNoRollback(error: unknown): Promise<boolean> {
    if (!this.#hasSettled && this.#provider.rejectsOnLoss && mayBeLoss(error)) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const tooLong = new Promise((resolve) => {
        timer = setTimeout(resolve, this.#timeouts.commandTimeoutMs);
      });
      await Promise.race([this.#answered, tooLong]);
      clearTimeout(timer);
    }
    return this.#hasSettled;
  }

  /** The ORM sends COMMIT or ROLLBACK now. */
  #expectEnd(): void {
    const { commandTimeoutMs } = this.#timeouts;
    this.#end = setTimeout(() => {
      if (this.#ending?.end === 'commit') this.loss.report(noEndInTime(commandTimeoutMs));
      this.#giveUp();
    }, commandTimeoutMs);
  }

  /**
   * Looks whether it was committed. Postgres answers the COMMIT of an aborted transaction with ROLLBACK and
   * no error, which no ORM notices: a query that the work has not awaited may fail between the record and
   * the COMMIT.
   */
  async #confirm(): Promise<void> {
    const status = await this.#transaction?.status().catch((error: unknown) => {
      throw unconfirmedEnd(databaseErrorOf(error));
    });
    if (status === 'aborted') throw transactionAborted();
    if (status !== 'committed') throw unconfirmedEnd();
  }

  #explain(error: unknown): unknown {
    if (this.#ending !== undefined) return explainFailedEnd(databaseErrorOf(error));
    // No transaction has begun.
    if (this.#transaction === undefined) return error;
    return this.#lose(this.#transaction.hasEnded ? transactionEnded() : connectionLost(error));
  }

  #lose(reason: InboxError): InboxError {
    this.loss.report(reason);
    return reason;
  }

  #within(timeoutMs: number, createError: (timeoutMs: number) => InboxError) {
    return setTimeout(() => this.loss.report(createError(timeoutMs)), timeoutMs);
  }
}
