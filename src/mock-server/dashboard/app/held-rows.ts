/** The rows of a list, and how many new ones are not shown yet. */
export interface HeldRows<Row> {
  readonly rows: readonly Row[];
  readonly unseen: number;
}

interface HoldOptions<Row> {
  readonly shown: readonly Row[];
  readonly fetched: readonly Row[];
  /** Whether somebody reads the list, so that its rows stay in place. */
  readonly isHeld: boolean;
  readonly keyOf: (row: Row) => string;
}

/** In a held list, shown rows are updated in place; new ones wait until the list is released. */
export function holdRows<Row>({ shown, fetched, isHeld, keyOf }: HoldOptions<Row>): HeldRows<Row> {
  if (!isHeld || shown.length === 0) return { rows: fetched, unseen: 0 };
  const newest = new Map(fetched.map((row) => [keyOf(row), row]));
  const rows = shown.map((row) => newest.get(keyOf(row)) ?? row);
  for (const row of shown) newest.delete(keyOf(row));
  return { rows, unseen: newest.size };
}
