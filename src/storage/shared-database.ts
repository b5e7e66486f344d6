const MADE_FROM = Symbol.for('merchant-payments.madeFrom');

/**
 * Notes on an inbox or an outbox the database (pool, connection, provider) that it was made from and
 * whose transactions its `tx` is. Not enumerable: a copy that changes what it does is another thing.
 */
export function markDatabase<Store extends object>(store: Store, database: object): Store {
  // In a function: what prints a store with all that it has must not print a database.
  return Object.defineProperty(store, MADE_FROM, { value: () => database });
}

/** Whether both were made from the same object, so that the `tx` of one is of use to the other. */
export function sameDatabase(one: object, other: object): boolean {
  const database = databaseOf(one);
  return database !== undefined && database === databaseOf(other);
}

function databaseOf(store: object): unknown {
  return (store as { readonly [MADE_FROM]?: () => unknown })[MADE_FROM]?.();
}
