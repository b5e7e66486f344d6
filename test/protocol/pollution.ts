/** Runs with a field on every object that has none of its own by that name. */
export function polluted<Result>(name: PropertyKey, value: unknown, run: () => Result): Result {
  plant(name, value);
  try {
    return run();
  } finally {
    Reflect.deleteProperty(Object.prototype, name);
  }
}

function plant(name: PropertyKey, value: unknown): void {
  // Without a prototype, since the descriptor could itself read what is planted.
  const field = { __proto__: null, value, configurable: true, enumerable: true, writable: true };
  Object.defineProperty(Object.prototype, name, field as PropertyDescriptor);
}
