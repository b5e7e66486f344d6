/** What differs between SQL engines. Names are quoted. */
export interface Dialect {
  readonly payments: string;
  readonly seconds: string;
  /** The types of a name of at most 128 characters, and of a text. */
  readonly nameType: string;
  readonly textType: string;
  /** What follows the columns of a table. */
  readonly tableOptions: string;
  /** The index for lists and for pruning, as a part of its table or as a statement. */
  readonly index: { readonly inTable: string } | { readonly statement: string };
  /** The current time in epoch milliseconds, by the clock of all processes. */
  now(): string;
  /** The columns of a row as a JSON list. */
  list(columns: string): string;
  /** Ends a SELECT that locks its rows; the second form skips rows that are locked. */
  readonly forUpdate: string;
  readonly skipLocked: string;
  /** Ends an INSERT of a new payment. If one is stored, nothing changes, or it fails as the session expects. */
  readonly ifNew: string;
  /** Ends an INSERT that keeps the stored payment. */
  readonly unlessStored: string;
  /** Deletes the payments whose references are in a list, without waiting for others. */
  deleteIn(references: string): string;
  /** Follows the table of an UPDATE by reference. */
  readonly byReference: string;
  /** A literal of a text in ASCII. */
  literal(text: string): string;
  /** An expression of a literal whose evaluation makes the transaction durable, whatever the session's default is. */
  durably(literal: string): string;
}
