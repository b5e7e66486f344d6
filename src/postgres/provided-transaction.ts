import {
  type ProvidedEngine,
  providedConnections,
} from '../store/providers/provided-connections.js';
import { type Begun, ProvidedTransaction } from '../store/providers/provided-transaction.js';
import type { TransactionProvider } from '../store/providers/provider.js';
import type { ClaimLimits, Connections, ServerTimeouts } from '../store/sql/transactions.js';
import { hasChanged } from './answers.js';
import { databaseErrorOf, failures, sqlStateOf } from './failures.js';
import { assertOpen } from './merchants-transaction.js';
import { leaveSavepoint, parseSession, SAVEPOINT, type Session, settings } from './settings.js';

/** The connections of an ORM, which begins transactions, and commits or rolls back. */
export function ormConnections<Tx>(
  provider: TransactionProvider<Tx>,
  timeouts: ServerTimeouts,
): Connections<Tx> {
  const engine: ProvidedEngine<Tx> = {
    failures,
    open: (begun) => new ProvidedInPostgres(begun),
    assertOpen,
    // An ORM returns only rows.
    change: (statement, alone) =>
      hasChanged(
        alone(`${statement} RETURNING 'changed'`).then((rows) => ({ rows, rowCount: rows.length })),
      ),
  };
  return providedConnections(provider, timeouts, engine);
}

const IN_PROGRESS = 'in progress';

class ProvidedInPostgres<Tx> extends ProvidedTransaction<Tx> {
  #id = '';
  #session: Session = ['none', ''];

  constructor(begun: Begun<Tx>) {
    super(begun, failures);
  }

  async begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]> {
    const timeoutMs = limits.lockTimeoutMs + limits.commandTimeoutMs;
    this.#check(await this.query(`${settings(limits)}, ${this.#columns()}`));
    const texts: string[] = [];
    for (const statement of statements) texts.push(...(await this.askInTime(statement, timeoutMs)));
    if (statements.length > 0) await this.setSavepoint(SAVEPOINT);
    return texts;
  }

  /**
   * A query that the work did not await may fail just before the COMMIT. Postgres then answers the COMMIT with ROLLBACK
   * and without an error, which no ORM notices.
   */
  override async assertCommitted(): Promise<void> {
    const status = await this.#status().catch((error: unknown) => {
      throw failures.unconfirmedEnd(failures.errorOfOrm(error));
    });
    if (status === 'aborted') throw failures.transactionAborted();
    if (status !== 'committed') throw failures.unconfirmedEnd();
  }

  protected leaveSavepoint(undo: boolean): readonly string[] {
    return leaveSavepoint(undo, this.#session);
  }

  protected async isOver(): Promise<boolean> {
    return this.#id !== '' && (await this.#status()) !== IN_PROGRESS;
  }

  /** The status at the server: `committed`, `aborted` or `in progress`. */
  async #status(): Promise<string | undefined> {
    const { database } = this.provider;
    const query = `SELECT pg_catalog.txid_status(${this.#id}::bigint)`;
    return failures.textsOf(await this.provider.query(database, query))[0];
  }

  // The session can't be ended while one of its statements runs.
  protected async endSession(): Promise<unknown> {
    const end = 'SELECT pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())';
    const error = await this.provider.query(this.tx, end).then(
      () => undefined,
      (reason: unknown) => databaseErrorOf(reason),
    );
    const state = sqlStateOf(error);
    const isRefused = state !== undefined && !state.startsWith('57P0');
    return isRefused ? new Promise(() => undefined) : this.loss.reason;
  }

  // Sets the transaction's deadline as statement_timeout, unless the session's is shorter: the
  // ORM owns the connection, so nothing else here can end a statement.
  #columns(): string {
    const { transactionTimeoutMs } = this.timeouts;
    const current = "pg_catalog.current_setting('statement_timeout'::text)";
    return `pg_catalog.set_config('statement_timeout'::text, CASE
    WHEN ${current}::interval BETWEEN '1 ms'::interval AND '${transactionTimeoutMs} ms'::interval THEN ${current}
    ELSE '${transactionTimeoutMs}'::text END, true) AS merchant_payments_timeout,
  pg_catalog.txid_current()::text AS merchant_payments_transaction,
  pg_catalog.current_setting('transaction_isolation'::text) AS merchant_payments_isolation`;
  }

  #check(rows: readonly object[]): void {
    // By position, because an ORM may rename columns.
    const [session, , id, isolation] = Object.values(rows[0] ?? {});
    this.#session = parseSession(session, this.provider.orm);
    if (typeof id !== 'string' || !/^\d+$/.test(id) || typeof isolation !== 'string') {
      throw failures.changedAnswer(this.provider.orm);
    }
    if (isolation !== 'read committed') throw failures.wrongIsolation(this.provider.orm, isolation);
    this.#id = id;
  }
}
