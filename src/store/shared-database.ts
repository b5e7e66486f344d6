const MADE_FROM = Symbol.for('merchant-payments.madeFrom');

/**
 * Marks an inbox or an outbox with the database (pool, connection, provider) to which its `tx` belongs. The mark is
 * not enumerable, so that a modified copy does not inherit it.
 */
export function markDatabase<Store extends object>(store: Store, database: object): Store {
  // In a function, so that printing a store with all of its properties does not print the database.
  return Object.defineProperty(store, MADE_FROM, { value: () => database });
}

/** Whether both were made from the same object, so that one can use the `tx` of the other. */
export function sameDatabase(one: object, other: object): boolean {
  const database = databaseOf(one);
  return database !== undefined && database === databaseOf(other);
}

function databaseOf(store: object): unknown {
  return (store as { readonly [MADE_FROM]?: () => unknown })[MADE_FROM]?.();
}
