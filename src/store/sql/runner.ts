import { invalidOption, LONGEST_TIMER_MS } from '../../protocol/options.js';
import { Loss } from '../loss.js';
import type { TransactionProvider } from '../providers/provider.js';

/** A row as a driver returns it: an object, or an array if the pool is configured so. */
export type Row = object;

/** Runs each statement in its own transaction: the common interface of pools and ORMs. */
export interface Runner<Tx> {
  /**
   * Runs a single statement.
   *
   * @throws the driver's error, or that of a deadline; whether the statement was run is then unknown
   */
  run(statement: string): Promise<readonly Row[]>;
  /** Runs several statements in one transaction, in time or not at all. Resolves with the rows of the last. */
  runAll(statements: readonly string[]): Promise<readonly Row[]>;
  /** Runs one statement in the given transaction. */
  runIn(tx: Tx, statement: string): Promise<readonly Row[]>;
  /** Whether {@link runIn} rejects if this transaction has ended, instead of running the statement outside of one. */
  refusesEnded(tx: Tx): boolean;
}

export interface RunnerOptions {
  readonly acquireTimeoutMs: number;
  readonly commandTimeoutMs: number;
  /** The error for a statement without an answer in time. */
  readonly createTimeout: (timeoutMs: number) => Error;
}

/** Runs one statement on the connection at hand. */
export type Ask<Answer = readonly Row[]> = (statement: string) => Promise<Answer>;

/**
 * A runner on a provider. The ORM's own deadlines apply in addition.
 *
 * @param databaseErrorOf extracts the server's error from that of an ORM
 */
export function runnerOfProvider<Tx>(
  provider: TransactionProvider<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
  databaseErrorOf: (error: unknown) => unknown,
): Runner<Tx> & {
  /** Runs `body` in one transaction, which is rolled back when it rejects. */
  runTogether<Value>(body: (ask: Ask) => Promise<Value>): Promise<Value>;
} {
  const timeoutMs = Math.min(acquireTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
  const inTime = async <Value>(running: Promise<Value>, loss = new Loss()): Promise<Value> => {
    const timer = setTimeout(() => loss.report(createTimeout(timeoutMs)), timeoutMs);
    return loss.orSettled(running).finally(() => clearTimeout(timer));
  };
  const explained = (error: unknown): never => {
    throw databaseErrorOf(error);
  };
  const runTogether = async <Value>(body: (ask: Ask) => Promise<Value>): Promise<Value> => {
    let value: Value | undefined;
    const loss = new Loss();
    // The ORM may begin long after the caller has given up, and has released what would be claimed now.
    const assertInTime = (): void => {
      if (loss.reason !== undefined) throw loss.reason;
    };
    const inTransaction = async (tx: Tx): Promise<void> => {
      assertInTime();
      value = await body((statement) => provider.query(tx, statement));
      assertInTime();
    };
    const limits = { acquireTimeoutMs, transactionTimeoutMs: commandTimeoutMs };
    await inTime(provider.transaction(inTransaction, limits), loss).catch(explained);
    return value as Value;
  };
  return {
    run: (statement) => inTime(provider.query(provider.database, statement)).catch(explained),
    runTogether,
    runAll: (statements) =>
      runTogether(async (ask) => {
        let rows: readonly Row[] = [];
        for (const statement of statements) rows = await ask(statement);
        return rows;
      }),
    // Not every ORM refuses.
    refusesEnded: () => false,
    async runIn(tx, statement) {
      if (!provider.isTransaction(tx ?? {})) {
        const expected = `a transaction of ${provider.orm}: the one that it, or an inbox on it, passes to your code`;
        throw invalidOption('tx', expected, tx);
      }
      return provider.query(tx, statement);
    },
  };
}

/** A connection was released while its transaction was open. */
export class TransactionOpen extends Error {
  constructor() {
    super(
      'The pool returned a connection with an open transaction, so it was closed: end each transaction before you release its client, also when it fails',
    );
  }
}
