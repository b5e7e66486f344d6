import { StoreError } from '../../errors.js';

/** Any method of a driver. */
export type AnyMethod = (...args: unknown[]) => unknown;

/** A statement that begins or ends a transaction. */
export interface Command {
  /** `isolate`: begins at a refused isolation level; `implicit`: commits implicitly; `other`: a refused end. */
  readonly kind: 'begin' | 'isolate' | 'commit' | 'rollback' | 'implicit' | 'other';
  /** The statement in capitals, for error messages. */
  readonly words: string;
}

/** A statement that finds out, after an error, whether the transaction has ended. */
export interface Probe {
  /** {@link Dialect.endedBy} interprets its answer. */
  readonly statement: string;
  /** The error to report if the transaction has ended. */
  readonly end: StoreError;
}

/** Interprets a driver's statements and answers. */
export interface Dialect {
  /** What the first argument of a query does to the transaction; undefined if it neither begins nor ends one. */
  commandIn(config: unknown): Command | undefined;
  /** Why the transaction has ended, according to the answer or error of a statement; undefined if it has not. */
  endedBy?(answer: unknown): StoreError | undefined;
  /** Returns undefined if the error leaves no doubt about the transaction. */
  probeAfter?(error: unknown): Probe | undefined;
  /** The arguments of a callback after `null`. By default, the answer alone. */
  valuesOf?(answer: unknown): unknown[];
}

/** Tracks the transactions and queries that the work has begun on `tx`, and turns the transactions into savepoints. */
export class NestedTransactions {
  readonly #dialect: Dialect;
  #isOpen = false;
  #running = 0;
  #closed = false;
  #refusal: StoreError | undefined;
  #end: StoreError | undefined;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /**
   * Sends a query, or the statement that replaces it.
   *
   * @param inPlace sends the replacement; by default, `query` does
   */
  send(query: AnyMethod, args: unknown[], inPlace = query): unknown {
    const refusal = this.#closed ? workHasEnded() : this.#end;
    if (refusal !== undefined) return this.#answer(Promise.reject(refusal), args);
    const command = this.#dialect.commandIn(args[0]);
    if (command !== undefined) return this.#answer(this.#run(command, inPlace), args);
    const result = query(...args);
    return isPromise(result) ? this.#settled(result, inPlace) : result;
  }

  /** Refuses a call that would end the transaction, and that no savepoint can replace. */
  refuse(words: string): StoreError {
    return this.#refuse(endRefused(words));
  }

  /**
   * Counts a query that ends with a callback. Returns a function to call with the query's answer: await
   * its result before you call the work's own callback.
   *
   * @param inPlace sends a probe
   */
  begin(inPlace: AnyMethod): (answer: unknown) => Promise<void> | undefined {
    this.#running += 1;
    return (answer) => {
      this.#running -= 1;
      return this.#notice(answer, inPlace);
    };
  }

  close(): void {
    this.#closed = true;
  }

  assertEnded(): void {
    // Even if the work ignored the refusal: a rollback that was refused must not become a commit.
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#end !== undefined) throw this.#end;
    if (this.#isOpen) throw notAwaited('a nested transaction of it was open');
    if (this.#running > 0) throw notAwaited('a query of it was running');
  }

  async #run({ kind, words }: Command, query: AnyMethod): Promise<unknown> {
    if (kind === 'isolate') throw this.#refuse(isolationRefused(words));
    if (kind === 'implicit') throw this.#refuse(commitRefused(words));
    if (kind === 'begin') {
      // With two open at once, the ROLLBACK of one would undo what the other has committed.
      if (this.#isOpen) throw this.#refuse(beginRefused(words));
      this.#isOpen = true;
      return this.#orElse(false, query, `SAVEPOINT ${SAVEPOINT}`);
    }
    if (kind === 'other' || !this.#isOpen) throw this.#refuse(endRefused(words));
    this.#isOpen = false;
    if (kind === 'rollback') {
      return this.#settled(query(`ROLLBACK TO SAVEPOINT ${SAVEPOINT}`), query);
    }
    // After a failed COMMIT, the work sends ROLLBACK, which needs the savepoint.
    return this.#orElse(true, query, `RELEASE SAVEPOINT ${SAVEPOINT}`);
  }

  async #orElse(isOpen: boolean, query: AnyMethod, statement: string): Promise<unknown> {
    try {
      return await this.#settled(query(statement), query);
    } catch (error) {
      this.#isOpen = isOpen;
      throw error;
    }
  }

  // await instead of then(), so that the stack of an error leads to the work.
  async #settled(running: unknown, query: AnyMethod): Promise<unknown> {
    this.#running += 1;
    try {
      const answer = await running;
      this.#notice(answer, query);
      return answer;
    } catch (error) {
      await this.#notice(error, query);
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  #notice(answer: unknown, query: AnyMethod): Promise<void> | undefined {
    const { endedBy, probeAfter } = this.#dialect;
    this.#end ??= endedBy?.(answer);
    const probe = this.#end === undefined ? probeAfter?.(answer) : undefined;
    if (probe === undefined) return undefined;
    // Until the answer arrives, another statement could be sent and committed on its own.
    return Promise.resolve(query(probe.statement)).then(
      (given) => {
        if (endedBy?.(given) !== undefined) this.#end = probe.end;
      },
      () => undefined,
    );
  }

  /** Answers like a driver: by the callback if there is one, otherwise by a promise. */
  #answer(running: Promise<unknown>, [config, ...others]: unknown[]): unknown {
    const { valuesOf = (result) => [result] } = this.#dialect;
    const callback = [...others, (config as { callback?: unknown } | null)?.callback].find(
      (value) => typeof value === 'function',
    ) as AnyMethod | undefined;
    if (callback === undefined) return running;
    running.then(
      (result) => callback(null, ...valuesOf(result)),
      (error) => callback(error),
    );
    return undefined;
  }

  #refuse(refusal: StoreError): StoreError {
    this.#refusal = refusal;
    return refusal;
  }
}

/**
 * Runs `work` on a view of its connection that turns transactions into savepoints: an ORM on `tx` sends BEGIN and
 * COMMIT for a nested transaction, and the COMMIT would end the store's.
 *
 * @throws {StoreError} `TRANSACTION_LOST` when the work tried to end the store's transaction, or
 * returned before its own transactions and queries had ended
 */
export async function runNested<Tx>(
  dialect: Dialect,
  viewOf: (nested: NestedTransactions) => Tx,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  const nested = new NestedTransactions(dialect);
  try {
    await work(viewOf(nested));
  } finally {
    nested.close();
  }
  nested.assertEnded();
}

/** These write to fields of the emitter, and must write to the connection's, not the view's. */
export const EMITTER_METHODS: readonly PropertyKey[] = [
  'on',
  'once',
  'off',
  'addListener',
  'prependListener',
  'prependOnceListener',
  'removeListener',
  'removeAllListeners',
];

const SAVEPOINT = 'merchant_payments_1';

function isPromise(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

function endRefused(words: string): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `${words} was not sent: it would end the store's transaction, because the work has not begun one. Let the store end it: throw to undo everything, use BEGIN and ROLLBACK or savepoints to undo a part`,
  );
}

function commitRefused(words: string): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `${words} was not sent: it would implicitly commit the store's transaction. Run it in a migration, or before the store is used; temporary tables are allowed`,
  );
}

function beginRefused(words: string): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `${words} was not sent: another transaction on tx is open. Run the transactions of your work one after another, and use SAVEPOINT, or your ORM's transaction inside a transaction, to nest them`,
  );
}

function isolationRefused(words: string): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `${words} was not sent: on tx a nested transaction is a savepoint, at READ COMMITTED like the store's transaction. Leave the isolation level out, and lock what must not change (SELECT … FOR UPDATE)`,
  );
}

/** The error of work that returned too early. */
export function notAwaited(what: string): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `The work returned while ${what}; nothing was recorded, and a later delivery runs the work again. Await every query and every transaction`,
  );
}

/** The error of a query on a `tx` whose work has ended. */
export function workHasEnded(): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'The query was not sent: the work that was given this tx has ended, and the transaction with it. Await every query before the work returns',
  );
}
