import type { StoreError } from '../errors.js';
import {
  type ProvidedEngine,
  providedConnections,
} from '../store/providers/provided-connections.js';
import { type Begun, ProvidedTransaction } from '../store/providers/provided-transaction.js';
import type { TransactionProvider } from '../store/providers/provider.js';
import type { ClaimLimits, Connections, ServerTimeouts } from '../store/sql/transactions.js';
import {
  databaseErrorOf,
  errnoOf,
  failures,
  savepointsRefused,
  UNSUPPORTED_IN_PREPARED,
} from './failures.js';
import type { Location } from './location.js';
import { assertOpen } from './merchants-transaction.js';
import { atMost, leaveSavepoint, limitsOf, RESTORE, SAVEPOINT } from './session.js';

/** The connections of an ORM, which begins transactions, and commits or rolls back. */
export function ormConnections<Tx>(
  given: TransactionProvider<Tx>,
  timeouts: ServerTimeouts,
  location: Location,
): Connections<Tx> {
  const provider = located(given, location);
  const sessions = new Sessions<Tx>(provider);
  const engine: ProvidedEngine<Tx> = {
    failures,
    open: (begun) => new ProvidedInMysql(begun, sessions),
    assertOpen,
    // An ORM does not tell how many rows were changed.
    change: async () => undefined,
  };
  return providedConnections(provider, timeouts, engine);
}

/** The provider, with the statements in the database of the store. */
function located<Tx>(
  provider: TransactionProvider<Tx>,
  location: Location,
): TransactionProvider<Tx> {
  const query = async (on: Tx | object, text: string): Promise<readonly object[]> => {
    const ask = async (statement: string) => failures.textsOf(await provider.query(on, statement));
    return provider.query(on, await location.in(text, ask));
  };
  return Object.create(provider, { query: { value: query } });
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
      const isOver = errnoOf(databaseErrorOf(error)) === NO_SUCH_THREAD;
      return isOver ? [] : new Promise(() => undefined);
    });
  }

  async #isListed(on: Tx | object, id: string): Promise<boolean> {
    // Users can see their own sessions.
    const query = `SELECT 'listed' FROM information_schema.processlist WHERE id = ${id}`;
    return (await this.#provider.query(on, query)).length > 0;
  }
}

class ProvidedInMysql<Tx> extends ProvidedTransaction<Tx> {
  readonly #sessions: Sessions<Tx>;
  #id: string | undefined;
  #isLimited = false;

  constructor(begun: Begun<Tx>, sessions: Sessions<Tx>) {
    super(begun, failures);
    this.#sessions = sessions;
  }

  async begin(limits: ClaimLimits, statements: readonly string[]): Promise<readonly string[]> {
    const { lockTimeoutMs, commandTimeoutMs } = limits;
    const [lock, ...others] = statements;
    const [id = ''] = await this.askInTime(
      'SELECT CAST(CONNECTION_ID() AS CHAR)',
      commandTimeoutMs,
    );
    if (/^\d+$/.test(id)) {
      this.#id = id;
      await this.#sessions.expectListed(this.tx, id);
    }
    if (lock === undefined) return [];
    this.#isLimited = true;
    await this.askInTime(limitsOf(limits), commandTimeoutMs);
    const timeoutMs = lockTimeoutMs + commandTimeoutMs;
    const texts = [...(await this.askInTime(atMost(lockTimeoutMs, lock), timeoutMs))];
    for (const statement of others) {
      texts.push(...(await this.askInTime(statement, commandTimeoutMs)));
    }
    await this.setSavepoint(SAVEPOINT).catch((error) => {
      if (errnoOf(error) !== UNSUPPORTED_IN_PREPARED) throw error;
      throw savepointsRefused(this.provider.orm, error);
    });
    return texts;
  }

  override async leave(): Promise<void> {
    if (!this.#isLimited || this.loss.reason !== undefined) return;
    await this.query(RESTORE).catch(() => undefined);
  }

  protected leaveSavepoint(undo: boolean): readonly string[] {
    return leaveSavepoint(undo);
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
