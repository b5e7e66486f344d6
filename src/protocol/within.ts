/** Resolves with `given`, or, if that takes longer than `limitMs`, with what `tooLate` returns or throws. */
export async function within<Value, Late>(
  limitMs: number,
  given: PromiseLike<Value> | Value,
  tooLate: () => Late,
): Promise<Value | Late> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    return await Promise.race([given, expired.then(tooLate)]);
  } finally {
    clearTimeout(timer);
  }
}
