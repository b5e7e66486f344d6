import type { StoreError } from '../errors.js';
import { type ProvidedEngine, runProvided } from '../store/providers/provided-run.js';
import { type Begun, ProvidedTransaction } from '../store/providers/provided-transaction.js';
import type { TransactionProvider } from '../store/providers/provider.js';
import type { TransactionTimeouts } from '../store/sql/transaction-timeouts.js';
import * as failures from './failures.js';
import type { Ending, MysqlTransactions, OpenConnection } from './mysql-transactions.js';
import { textsOf } from './rows.js';
import { enterStatements, RESTORE, type SessionLimits } from './session.js';

/** Transactions of an ORM, which begins them, and commits or rolls back. */
export function providedTransactions<Tx>(
  provider: TransactionProvider<Tx>,
  timeouts: TransactionTimeouts,
): MysqlTransactions<Tx> {
  const sessions = new Sessions<Tx>(provider);
  return {
    run<Result>(body: (connection: OpenConnection<Tx>) => Promise<Ending<Result>>) {
      const engine: ProvidedEngine<Tx, Ending<Result>, OpenConnection<Tx>> = {
        failures,
        open: (begun) => new ProvidedInMysql(begun, sessions),
      };
      return runProvided(engine, provider, timeouts, body) as Promise<Result>;
    },
  };
}

const NO_SUCH_THREAD = 1094;

/** The sessions of the provider's pool at the server. */
class Sessions<Tx> {
  readonly #provider: TransactionProvider<Tx>;
  // A proxy may have its own session ids, which the server does not list.
  #areListed = false;

  constructor(provider: TransactionProvider<Tx>) {
    this.#provider = provider;
  }

  /** Call it with the session of `tx` while it is open: only if the server lists it can isOver() recognize its end. */
  async expectListed(tx: Tx, id: string): Promise<void> {
    this.#areListed ||= await this.#isListed(tx, id);
  }

  async isOver(id: string): Promise<boolean> {
    return this.#areListed && !(await this.#isListed(this.#provider.database, id));
  }

  /** Resolves once the session has ended; never settles if it can't be ended. */
  async end(id: string): Promise<void> {
    const { database } = this.#provider;
    await this.#provider.query(database, `KILL ${id}`).catch((error: unknown) => {
      const isOver = failures.errnoOf(failures.databaseErrorOf(error)) === NO_SUCH_THREAD;
      return isOver ? [] : new Promise(() => undefined);
    });
  }

  async #isListed(on: Tx | object, id: string): Promise<boolean> {
    // Users can see their own sessions.
    const query = `SELECT 'listed' FROM information_schema.processlist WHERE id = ${id}`;
    return (await this.#provider.query(on, query)).length > 0;
  }
}

type AnyEnding = Ending<unknown>;

class ProvidedInMysql<Tx> extends ProvidedTransaction<Tx, AnyEnding> implements OpenConnection<Tx> {
  readonly isProvided = true;
  readonly #sessions: Sessions<Tx>;
  #id: string | undefined;
  #isLimited = false;

  constructor(begun: Begun<Tx>, sessions: Sessions<Tx>) {
    super(begun, failures);
    this.#sessions = sessions;
  }

  async begin(limits: SessionLimits, timeoutMs: number): Promise<void> {
    const [id = ''] = await this.ask('SELECT CAST(CONNECTION_ID() AS CHAR)', timeoutMs);
    if (/^\d+$/.test(id)) {
      this.#id = id;
      await this.#sessions.expectListed(this.tx, id);
    }
    this.#isLimited = true;
    for (const statement of enterStatements(limits)) {
      await this.ask(statement, timeoutMs).catch((error) => {
        if (failures.errnoOf(error) !== failures.UNSUPPORTED_IN_PREPARED) throw error;
        throw failures.savepointsRefused(this.provider.orm, error);
      });
    }
  }

  async ask(statement: string, timeoutMs: number): Promise<readonly string[]> {
    const timer = setTimeout(() => this.loss.report(failures.noAnswerInTime(timeoutMs)), timeoutMs);
    try {
      return textsOf(await this.query(statement));
    } finally {
      clearTimeout(timer);
    }
  }

  async record(ending: AnyEnding): Promise<void> {
    if (ending.end !== 'commit') return;
    for (const statement of ending.statements) {
      await this.query(statement).catch((error) => {
        throw this.hasEnded && failures.errnoOf(error) === undefined
          ? failures.transactionEnded()
          : failures.explainFailedRecord(error);
      });
    }
  }

  async leave(): Promise<void> {
    if (!this.#isLimited || this.loss.reason !== undefined) return;
    await this.query(RESTORE).catch(() => undefined);
  }

  /**
   * After a deadlock, the server has rolled back and runs each further statement in its own transaction, so COMMIT
   * succeeds without committing anything.
   */
  async assertCommitted(ending: AnyEnding): Promise<void> {
    if (ending.end !== 'commit' || ending.confirm === undefined) return;
    const { database } = this.provider;
    const rows = await this.provider.query(database, ending.confirm).catch((error: unknown) => {
      throw failures.unconfirmedEnd(failures.databaseErrorOf(error));
    });
    if (rows.length === 0) throw failures.notCommitted();
  }

  protected async isOver(): Promise<boolean> {
    return this.#id !== undefined && (await this.#sessions.isOver(this.#id));
  }

  protected async endSession(): Promise<StoreError | undefined> {
    if (this.#id === undefined) return new Promise(() => undefined);
    await this.#sessions.end(this.#id);
    return this.loss.reason as StoreError | undefined;
  }
}
