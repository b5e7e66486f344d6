import type { InboxError } from '../../errors.js';
import type { Loss } from '../loss.js';
import type { TransactionTimeouts } from '../transaction-timeouts.js';
import type { TransactionProvider } from './provider.js';

const WATCH_PAUSE_MS = 1_000;

/** What an engine says of failures, each for a transaction that an ORM owns. */
export interface EngineFailures {
  noConnectionInTime(acquireTimeoutMs: number): InboxError;
  noEndInTime(timeoutMs: number): InboxError;
  noEndOfWorkInTime(timeoutMs: number): InboxError;
  connectionLost(cause: unknown): InboxError;
  transactionEnded(cause?: unknown): InboxError;
  /** The transaction is no longer open at the server, for a reason that is not known. */
  transactionGone(): InboxError;
  /** What the record, or the COMMIT behind it, failed with. */
  explainFailedEnd(error: unknown): unknown;
  /** The innermost error that the server answered with, of those that ORMs wrap in their own. */
  databaseErrorOf(error: unknown): unknown;
  /** Whether an error may be that the connection was lost, for providers with `rejectsOnLoss`. */
  mayBeLoss(error: unknown): boolean;
}

/** What a {@link ProvidedTransaction} is made of. */
export interface Begun<Tx> {
  readonly provider: TransactionProvider<Tx>;
  readonly tx: Tx;
  readonly loss: Loss;
  readonly timeouts: TransactionTimeouts;
}

/** A transaction that an ORM has begun, whatever the engine. */
export abstract class ProvidedTransaction<Tx, Ending> {
  readonly tx: Tx;
  protected readonly provider: TransactionProvider<Tx>;
  protected readonly loss: Loss;
  protected readonly timeouts: TransactionTimeouts;
  readonly #failures: EngineFailures;

  constructor({ provider, tx, loss, timeouts }: Begun<Tx>, failures: EngineFailures) {
    this.tx = tx;
    this.provider = provider;
    this.loss = loss;
    this.timeouts = timeouts;
    this.#failures = failures;
  }

  /** Runs what comes just before COMMIT. */
  abstract record(ending: Ending): Promise<void>;
  /** Takes back what was set for the session, just before COMMIT or ROLLBACK. Never rejects. */
  abstract leave(): Promise<void>;
  /**
   * Looks, after the ORM's COMMIT, whether the transaction was committed.
   *
   * @throws {InboxError} when it was not, or that is not known
   */
  abstract assertCommitted(ending: Ending): Promise<void>;
  /** Ends the session. Settles, with the error to give, when it is over, and never if that can't be done. */
  protected abstract endSession(): Promise<unknown>;
  /** Whether the transaction is seen to be over, asked on another connection. */
  protected abstract isOver(): Promise<boolean>;

  get signal(): AbortSignal {
    return this.loss.signal;
  }

  get hasEnded(): boolean {
    return this.provider.hasEnded(this.tx);
  }

  /** Has the loss of the connection reported. Gives what ends that. */
  async listen(): Promise<() => void> {
    const stop = await this.provider.listen(this.tx, (error) =>
      this.loss.report(this.#failures.connectionLost(error)),
    );
    return stop ?? this.#watch();
  }

  async query(statement: string): Promise<readonly object[]> {
    try {
      const rows = await this.provider.query(this.tx, statement);
      // A late answer must not begin the work.
      if (this.loss.reason === undefined) return rows;
    } catch (error) {
      if (this.loss.reason === undefined) throw this.#failures.databaseErrorOf(error);
    }
    throw this.loss.reason;
  }

  /**
   * Waits for `running` until it settles or the connection is gone. When it was lost in another way, it
   * is ended here: the ORM must not give it to others while the work may still send something on it.
   */
  orDestroyed<Result>(running: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      running.then(resolve, reject);
      this.signal.addEventListener('abort', () => {
        const { reason } = this.signal;
        if (reason.code !== 'INBOX_TIMEOUT') reject(reason);
        else if (!this.provider.isSingle) this.endSession().then(reject, () => undefined);
      });
    });
  }

  /** Asks the server now and then, on another connection, whether the transaction is still open. */
  #watch(): () => void {
    // There is none.
    if (this.provider.isSingle) return () => undefined;
    let timer: ReturnType<typeof setTimeout>;
    let looksOver = 0;
    let stopped = false;
    const look = async (): Promise<void> => {
      const isOver = await this.isOver().catch(() => false);
      if (stopped) return;
      // A statement that fails ends it as well: its error is more useful, where the work throws it.
      looksOver = isOver ? looksOver + 1 : 0;
      if (looksOver === 2) this.loss.report(this.#failures.transactionGone());
      timer = setTimeout(look, WATCH_PAUSE_MS);
    };
    timer = setTimeout(look, WATCH_PAUSE_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }
}
