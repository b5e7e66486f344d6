import { InboxError } from '../../errors.js';
import type { TransactionProvider } from '../providers/provider.js';
import {
  connectionLost,
  databaseErrorOf,
  explainFailedRecord,
  noAnswerInTime,
  sqlStateOf,
  transactionEnded,
  transactionGone,
  wrongIsolation,
} from './failures.js';
import type { Loss, PgTimeouts } from './pg-transactions.js';
import { type OpenTransaction, onlyText, type Row } from './transactions.js';

const IN_PROGRESS = 'in progress';
const WATCH_PAUSE_MS = 1_000;

/** A transaction that an ORM has begun. */
export class ProvidedTransaction<Tx> implements OpenTransaction<Tx> {
  readonly tx: Tx;
  readonly #provider: TransactionProvider<Tx>;
  readonly #loss: Loss;
  readonly #timeouts: PgTimeouts;
  #id = '';

  constructor(provider: TransactionProvider<Tx>, tx: Tx, loss: Loss, timeouts: PgTimeouts) {
    this.tx = tx;
    this.#provider = provider;
    this.#loss = loss;
    this.#timeouts = timeouts;
  }

  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  get hasEnded(): boolean {
    return this.#provider.hasEnded(this.tx);
  }

  /** Has the loss of the connection reported. Gives what ends that. */
  async listen(): Promise<() => void> {
    const stop = await this.#provider.listen(this.tx, (error) =>
      this.#loss.report(connectionLost(error)),
    );
    return stop ?? this.#watch();
  }

  async begin(statements: readonly string[], timeoutMs: number): Promise<readonly Row[]> {
    const timer = setTimeout(() => this.#loss.report(noAnswerInTime(timeoutMs)), timeoutMs);
    const [first = '', ...others] = statements;
    try {
      let rows = await this.query(`${first}, ${this.#columns()}`);
      this.#check(rows);
      for (const statement of others) rows = await this.query(statement);
      return rows;
    } finally {
      clearTimeout(timer);
    }
  }

  async query(statement: string): Promise<readonly Row[]> {
    try {
      const rows = await this.#provider.query(this.tx, statement);
      // A late answer must not begin the work.
      if (this.#loss.reason === undefined) return rows;
    } catch (error) {
      if (this.#loss.reason === undefined) throw databaseErrorOf(error);
    }
    throw this.#loss.reason;
  }

  /** Runs what comes just before COMMIT. */
  async record(statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      await this.query(statement).catch((error) => {
        const { hasEnded } = this;
        throw hasEnded && sqlStateOf(error) === undefined
          ? transactionEnded()
          : explainFailedRecord(error);
      });
    }
  }

  /** What became of it: `committed`, `aborted`, or another word of Postgres. To be asked after its end. */
  async status(): Promise<string> {
    const { database } = this.#provider;
    return onlyText(await this.#provider.query(database, `SELECT txid_status(${this.#id})`));
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
        if (reason.code === 'INBOX_TIMEOUT') this.#endSession().then(reject, () => undefined);
        else reject(reason);
      });
    });
  }

  /** Settles with the reason when the server has ended the session. It can't while a statement runs. */
  async #endSession(): Promise<unknown> {
    if (this.#provider.isSingle) return new Promise(() => undefined);
    const end = 'SELECT pg_terminate_backend(pg_backend_pid())';
    const error = await this.#provider.query(this.tx, end).then(
      () => undefined,
      (reason: unknown) => databaseErrorOf(reason),
    );
    const state = sqlStateOf(error);
    const isRefused = state !== undefined && !state.startsWith('57P0');
    return isRefused ? new Promise(() => undefined) : this.#loss.reason;
  }

  /** Asks Postgres now and then, on another connection, whether the transaction is still open. */
  #watch(): () => void {
    // There is none.
    if (this.#provider.isSingle) return () => undefined;
    let timer: ReturnType<typeof setTimeout>;
    let looksClosed = 0;
    let stopped = false;
    const look = async (): Promise<void> => {
      const status = this.#id === '' ? IN_PROGRESS : await this.status().catch(() => IN_PROGRESS);
      if (stopped) return;
      // A statement that fails ends it as well: its error is more useful, where the work throws it.
      looksClosed = status === IN_PROGRESS ? 0 : looksClosed + 1;
      if (looksClosed === 2) this.#loss.report(transactionGone());
      timer = setTimeout(look, WATCH_PAUSE_MS);
    };
    timer = setTimeout(look, WATCH_PAUSE_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }

  // The deadline of the transaction as one of each statement, if the session's own is not shorter: the
  // ORM has the connection, so nothing else here ends a statement.
  #columns(): string {
    const { transactionTimeoutMs } = this.#timeouts;
    return `set_config('statement_timeout', CASE
    WHEN current_setting('statement_timeout')::interval BETWEEN '1 ms' AND '${transactionTimeoutMs} ms' THEN current_setting('statement_timeout')
    ELSE '${transactionTimeoutMs}' END, true) AS merchant_payments_timeout,
  txid_current()::text AS merchant_payments_transaction,
  current_setting('transaction_isolation') AS merchant_payments_isolation`;
  }

  #check(rows: readonly Row[]): void {
    // By their place: an ORM may change their names.
    const [id, isolation] = Object.values(rows[0] ?? {}).slice(-2);
    if (typeof id !== 'string' || !/^\d+$/.test(id) || typeof isolation !== 'string') {
      throw new InboxError(
        'STORE_FAILED',
        `${this.#provider.orm} does not give the text that Postgres answered, so nothing was processed; look for a plugin, an extension or a type parser that changes what raw queries return`,
      );
    }
    if (isolation !== 'read committed') throw wrongIsolation(this.#provider.orm, isolation);
    this.#id = id;
  }
}
