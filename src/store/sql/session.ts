import type { Ask } from './transactions.js';

/**
 * A step of a store in one transaction: yields each statement, and receives the text in each row of its answer. A
 * generator, so that the same code runs across awaits on a server's connection, and at once on SQLite's.
 */
export type Step<Value> = Generator<string, Value, readonly string[]>;

/** How an engine runs statements and steps. */
export interface SqlSession<Tx> {
  /** Creates missing tables, columns and indexes. */
  setup(): Promise<void>;
  /** Runs one SELECT. */
  read(statement: string): Promise<readonly string[]>;
  /**
   * Runs one INSERT or UPDATE.
   *
   * @returns whether it has changed a row; undefined if only a step can tell
   */
  change(statement: string): Promise<boolean | undefined>;
  /** Runs a step in a transaction that it begins and ends, again after a deadlock. */
  run<Value>(step: () => Step<Value>): Promise<Value>;
  /**
   * Runs a step in the merchant's transaction.
   *
   * @throws {InvalidOptionError} when `tx` is not an open transaction
   */
  runIn<Value>(tx: Tx, step: () => Step<Value>): Promise<Value>;
}

/** Runs a step across awaits. */
export async function walk<Value>(step: () => Step<Value>, ask: Ask): Promise<Value> {
  const statements = step();
  let next = statements.next();
  while (!next.done) next = statements.next(await ask(next.value));
  return next.value;
}
