import { StoreError } from '../errors.js';
import { type ProvidedEngine, runProvided } from '../store/providers/provided-run.js';
import { ProvidedTransaction } from '../store/providers/provided-transaction.js';
import type { TransactionProvider } from '../store/providers/provider.js';
import type { Row } from '../store/sql/runner.js';
import type { TransactionTimeouts } from '../store/sql/transaction-timeouts.js';
import * as failures from './failures.js';
import { type Ending, type OpenTransaction, onlyText, type Transactions } from './transactions.js';

/** Transactions of an ORM, which begins them, and commits or rolls back. */
export function providedTransactions<Tx>(
  provider: TransactionProvider<Tx>,
  timeouts: TransactionTimeouts,
): Transactions<Tx> {
  return {
    run<Result>(body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>) {
      const engine: ProvidedEngine<Tx, Ending<Result>, OpenTransaction<Tx>> = {
        failures,
        open: (begun) => new ProvidedInPostgres(begun, failures),
      };
      return runProvided(engine, provider, timeouts, body) as Promise<Result>;
    },
  };
}

const IN_PROGRESS = 'in progress';

type AnyEnding = Ending<unknown>;

class ProvidedInPostgres<Tx>
  extends ProvidedTransaction<Tx, AnyEnding>
  implements OpenTransaction<Tx>
{
  #id = '';

  async begin(statements: readonly string[], timeoutMs: number): Promise<readonly Row[]> {
    const timer = setTimeout(() => this.loss.report(failures.noAnswerInTime(timeoutMs)), timeoutMs);
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

  async record(ending: AnyEnding): Promise<void> {
    if (ending.end !== 'commit') return;
    for (const statement of ending.statements ?? []) {
      await this.query(statement).catch((error) => {
        const { hasEnded } = this;
        throw hasEnded && failures.sqlStateOf(error) === undefined
          ? failures.transactionEnded()
          : failures.explainFailedRecord(error);
      });
    }
  }

  // All settings are local to the transaction.
  async leave(): Promise<void> {}

  /**
   * A query that the work did not await may fail just before the COMMIT. Postgres then answers the COMMIT with ROLLBACK
   * and without an error, which no ORM notices.
   */
  async assertCommitted(): Promise<void> {
    const status = await this.#status().catch((error: unknown) => {
      throw failures.unconfirmedEnd(failures.databaseErrorOf(error));
    });
    if (status === 'aborted') throw failures.transactionAborted();
    if (status !== 'committed') throw failures.unconfirmedEnd();
  }

  protected async isOver(): Promise<boolean> {
    return this.#id !== '' && (await this.#status()) !== IN_PROGRESS;
  }

  /** The status at the server: `committed`, `aborted` or `in progress`. */
  async #status(): Promise<string> {
    const { database } = this.provider;
    return onlyText(await this.provider.query(database, `SELECT txid_status(${this.#id})`));
  }

  // The session can't be ended while one of its statements runs.
  protected async endSession(): Promise<unknown> {
    const end = 'SELECT pg_terminate_backend(pg_backend_pid())';
    const error = await this.provider.query(this.tx, end).then(
      () => undefined,
      (reason: unknown) => failures.databaseErrorOf(reason),
    );
    const state = failures.sqlStateOf(error);
    const isRefused = state !== undefined && !state.startsWith('57P0');
    return isRefused ? new Promise(() => undefined) : this.loss.reason;
  }

  // Sets the transaction's deadline as statement_timeout, unless the session's is shorter: the
  // ORM owns the connection, so nothing else here can end a statement.
  #columns(): string {
    const { transactionTimeoutMs } = this.timeouts;
    return `set_config('statement_timeout', CASE
    WHEN current_setting('statement_timeout')::interval BETWEEN '1 ms' AND '${transactionTimeoutMs} ms' THEN current_setting('statement_timeout')
    ELSE '${transactionTimeoutMs}' END, true) AS merchant_payments_timeout,
  txid_current()::text AS merchant_payments_transaction,
  current_setting('transaction_isolation') AS merchant_payments_isolation`;
  }

  #check(rows: readonly Row[]): void {
    // By position, because an ORM may rename columns.
    const [id, isolation] = Object.values(rows[0] ?? {}).slice(-2);
    if (typeof id !== 'string' || !/^\d+$/.test(id) || typeof isolation !== 'string') {
      throw new StoreError(
        'STORE_FAILED',
        `${this.provider.orm} did not return the text that Postgres sent, so nothing was processed; look for a plugin, an extension or a type parser that changes what raw queries return`,
      );
    }
    if (isolation !== 'read committed') throw failures.wrongIsolation(this.provider.orm, isolation);
    this.#id = id;
  }
}
