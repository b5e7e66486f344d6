// Causes may form a circle.
const MAX_CAUSES = 5;

/** Yields an error, its cause, the cause's cause, and so on. */
export function* causesOf(error: unknown): Generator<unknown> {
  let cause = error;
  for (let count = 0; cause !== undefined && count < MAX_CAUSES; count += 1) {
    yield cause;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
}
