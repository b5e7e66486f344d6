/** A promise with the functions that settle it. */
export interface Gate<Value> {
  readonly promise: Promise<Value>;
  open(value: Value): void;
  break(error: unknown): void;
}

export function createGate<Value>(): Gate<Value> {
  let open!: Gate<Value>['open'];
  let close!: Gate<Value>['break'];
  const promise = new Promise<Value>((resolve, reject) => {
    open = resolve;
    close = reject;
  });
  return { promise, open, break: close };
}
