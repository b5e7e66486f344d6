/** What differs between SQL engines. Names are quoted. */
export interface Dialect {
  readonly tables: Tables;
  /** The types of a name of at most 128 characters, and of a text. */
  readonly nameType: string;
  readonly textType: string;
  /** What follows the columns of a table. */
  readonly tableOptions: string;
  index(table: keyof Tables, name: string, columns: string): SqlIndex;
  /** The current time in epoch milliseconds, by the clock of all processes. */
  now(): string;
  /** The columns of a row as a JSON list. */
  list(columns: string): string;
  /** A number as text. */
  asText(number: string): string;
  /** Ends a SELECT that locks its rows; the second form skips rows that are locked. */
  readonly forUpdate: string;
  readonly skipLocked: string;
  /** Ends an INSERT of a new payment. If one is stored, nothing changes, or it fails as the session expects. */
  readonly ifNew: string;
  /** Ends an INSERT that keeps the stored row with this primary key, and locks that row. */
  orLock(column: string): string;
  /** Changes rows by primary key, without waiting for others. */
  updateByKey(table: string, set: string, keys: readonly Key[]): string;
  /** Deletes rows in the same way. */
  deleteByKey(table: string, keys: readonly Key[]): string;
  /** A literal of a text in ASCII. */
  literal(text: string): string;
}

/** The columns of a primary key, each with the literal of its value. */
export type Key = Readonly<Record<string, string>>;

/** The tables of a store. */
export interface Tables {
  readonly payments: string;
  readonly changes: string;
  readonly failures: string;
  readonly seconds: string;
}

export interface SqlIndex {
  readonly create: string;
  /** The same as a line of the table's statement, if the engine has it there. */
  readonly inTable?: string;
}

/** For engines that find the rows of a condition by their keys. SQLite has no lists of rows. */
export const byKey: Pick<Dialect, 'updateByKey' | 'deleteByKey'> = {
  updateByKey: (table, set, keys) => `UPDATE ${table} SET ${set}\nWHERE ${anyOf(keys)}`,
  deleteByKey: (table, keys) => `DELETE FROM ${table} WHERE ${anyOf(keys)}`,
};

function anyOf(keys: readonly Key[]): string {
  const conditions = keys.map((key) =>
    Object.entries(key)
      .map(([column, literal]) => `${column} = ${literal}`)
      .join(' AND '),
  );
  return conditions.map((condition) => `(${condition})`).join(' OR ');
}
