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
   * Runs one INSERT or UPDATE, marked with the owner by which {@link cancel} finds it.
   *
   * @returns whether it has changed a row; undefined if only a step can tell
   */
  change(
    statement: (mark: string) => string,
    owner: string | undefined,
  ): Promise<boolean | undefined>;
  /** Runs a step in a transaction that it begins and ends, again after a deadlock. */
  run<Value>(step: () => Step<Value>): Promise<Value>;
  /**
   * Runs a step in the merchant's transaction.
   *
   * @throws {InvalidOptionError} when `tx` is not an open transaction
   */
  runIn<Value>(tx: Tx, step: () => Step<Value>): Promise<Value>;
  /** Cancels the marked statement, which the server still runs although its sender has given up. */
  cancel(owner: string): Promise<unknown>;
}

/** Runs a step across awaits. */
export async function walk<Value>(step: () => Step<Value>, ask: Ask): Promise<Value> {
  const statements = step();
  let next = statements.next();
  while (!next.done) next = statements.next(await ask(next.value));
  return next.value;
}
