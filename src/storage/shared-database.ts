const MADE_FROM = Symbol.for('merchant-payments.madeFrom');

/** Asks something of the database. A function, so that whoever prints the store does not print that. */
type Mark = <Answer>(ask: (database: object) => Answer) => Answer;

/**
 * Notes on an inbox or an outbox the database (pool, connection, provider) that it was made from and
 * whose transactions its `tx` is. Not enumerable: a copy that changes what it does is another thing.
 */
export function markDatabase<Store extends object>(store: Store, database: object): Store {
  const mark: Mark = (ask) => ask(database);
  return Object.defineProperty(store, MADE_FROM, { value: mark });
}

/** Whether both were made from the same object, so that the `tx` of one is of use to the other. */
export function sameDatabase(one: object, other: object): boolean {
  const [first, second] = [markOf(one), markOf(other)];
  if (first === undefined || second === undefined) return false;
  return first((database) => second((another) => database === another));
}

function markOf(store: object): Mark | undefined {
  return (store as { readonly [MADE_FROM]?: Mark })[MADE_FROM];
}
