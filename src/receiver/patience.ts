/** How long a secret or a schema of the merchant's may take, in milliseconds. */
export const PATIENCE_MS = 10_000;

/** What the merchant's code gives. One that hangs must not hold every callback for ever. */
export async function withinPatience<Value>(
  given: PromiseLike<Value>,
  tooLate: () => Error,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooLate()), PATIENCE_MS);
  });
  try {
    return await Promise.race([given, expired]);
  } finally {
    clearTimeout(timer);
  }
}
