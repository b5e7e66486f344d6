import type { Loss } from '../loss.js';
import type { ServerFailures } from '../sql/server-failures.js';
import type { ClaimLimits, Ending, OpenTransaction, ServerTimeouts } from '../sql/transactions.js';
import { lossesHeard } from './keep-off-lost.js';
import type { TransactionProvider } from './provider.js';
import { WorkEnd } from './work-end.js';

const WATCH_PAUSE_MS = 1_000;

/** The parts of a {@link ProvidedTransaction}. */
export interface Begun<Tx> {
  readonly provider: TransactionProvider<Tx>;
  readonly tx: Tx;
  readonly loss: Loss;
  readonly timeouts: ServerTimeouts;
}

/** A transaction that an ORM has begun, whatever the engine. */
export abstract class ProvidedTransaction<Tx> implements OpenTransaction<Tx> {
  readonly tx: Tx;
  protected readonly provider: TransactionProvider<Tx>;
  protected readonly loss: Loss;
  protected readonly timeouts: ServerTimeouts;
  readonly #failures: ServerFailures;
  #hasSavepoint = false;

  constructor({ provider, tx, loss, timeouts }: Begun<Tx>, failures: ServerFailures) {
    this.tx = tx;
    this.provider = provider;
    this.loss = loss;
    this.timeouts = timeouts;
    this.#failures = failures;
  }

  abstract begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]>;
  /** The statements that end the work's savepoint, before those that end the transaction. */
  protected abstract leaveSavepoint(undo: boolean): readonly string[];
  /** Ends the session. Resolves with the error to report once it has ended; never settles if it can't be ended. */
  protected abstract endSession(): Promise<unknown>;
  /** Whether the transaction has ended, as seen from another connection. */
  protected abstract isOver(): Promise<boolean>;

  /**
   * Restores the session's settings, just before COMMIT or ROLLBACK. Never rejects. Does nothing if all settings are
   * local to the transaction.
   */
  async leave(): Promise<void> {}

  /**
   * Checks, after the ORM's COMMIT, that the transaction was committed. Does nothing if the end of the savepoint has
   * shown that the transaction was open, and the ORM commits what follows at once.
   *
   * @throws {StoreError} when it was not, or when that is unknown
   */
  async assertCommitted(): Promise<void> {}

  get signal(): AbortSignal {
    return this.loss.signal;
  }

  get hasEnded(): boolean {
    return this.provider.hasEnded(this.tx);
  }

  /** Reports a loss of the connection. Resolves with a function that stops this. */
  async listen(): Promise<() => void> {
    const stop = await this.provider.listen(this.tx, (error) =>
      this.loss.report(this.#failures.connectionLost(this.#failures.errorOfOrm(error))),
    );
    return stop ?? this.#watch();
  }

  async ask(statement: string): Promise<readonly string[]> {
    return this.#failures.textsOf(await this.query(statement));
  }

  async runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    const end = new WorkEnd();
    this.signal.addEventListener('abort', () => end.close());
    const tx = await this.provider.forWork(this.tx, end);
    let returnedEarly: Error | undefined;
    try {
      await work(tx);
    } finally {
      returnedEarly = await end.closeAndWait();
    }
    if (returnedEarly !== undefined) throw returnedEarly;
  }

  /** Like {@link ask}, within a time. */
  protected askInTime(statement: string, timeoutMs: number): Promise<readonly string[]> {
    const { noAnswerInTime } = this.#failures;
    return this.loss.within(timeoutMs, noAnswerInTime, () => this.ask(statement));
  }

  /** Runs the statements that come just before COMMIT. */
  async record(ending: Extract<Ending<unknown>, { end: 'commit' }>): Promise<void> {
    if (!this.#hasSavepoint) return;
    // The work may have failed because the connection broke.
    if (ending.undo) await lossesHeard();
    if (this.provider.isLost(this.tx)) throw this.#failures.connectionLost(undefined);
    for (const statement of [...this.leaveSavepoint(ending.undo), ...ending.statements]) {
      await this.query(statement).catch((error) => {
        throw this.#explainFailedRecord(error);
      });
    }
  }

  #explainFailedRecord(error: unknown): unknown {
    return this.hasEnded && !this.#failures.isOfServer(error)
      ? this.#failures.transactionEnded()
      : this.#failures.explainFailedRecord(error);
  }

  async query(statement: string): Promise<readonly object[]> {
    try {
      const rows = await this.provider.query(this.tx, statement);
      // An answer after the loss must not start the work.
      if (this.loss.reason === undefined) return rows;
    } catch (error) {
      if (this.loss.reason === undefined) throw this.#failures.errorOfOrm(error);
    }
    throw this.loss.reason;
  }

  /** Sets the savepoint to which the work is undone, and by whose end it shows that the transaction is still open. */
  protected async setSavepoint(statement: string): Promise<void> {
    await this.query(statement);
    this.#hasSavepoint = true;
  }

  /**
   * Settles like `running`, or rejects once the connection is gone. After a timeout, the connection may still be alive,
   * so its session is ended first: the ORM must not hand it to others while the work may still use it.
   */
  orDestroyed<Result>(running: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      running.then(resolve, reject);
      this.signal.addEventListener('abort', () => {
        const { reason } = this.signal;
        if (reason.code !== 'STORE_TIMEOUT') reject(reason);
        else if (!this.provider.isSingle) this.endSession().then(reject, () => undefined);
      });
    });
  }

  /** Regularly checks, on another connection, whether the transaction is still open. */
  #watch(): () => void {
    // There is no other connection.
    if (this.provider.isSingle) return () => undefined;
    let timer: ReturnType<typeof setTimeout>;
    let timesSeenOver = 0;
    let stopped = false;
    const check = async (): Promise<void> => {
      const isOver = await this.isOver().catch(() => false);
      if (stopped) return;
      // Reported at the second check only: if a failed statement has ended it, the work gets time to throw that error,
      // which is more useful.
      timesSeenOver = isOver ? timesSeenOver + 1 : 0;
      if (timesSeenOver === 2) this.loss.report(this.#failures.transactionGone());
      timer = setTimeout(check, WATCH_PAUSE_MS);
    };
    timer = setTimeout(check, WATCH_PAUSE_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }
}
