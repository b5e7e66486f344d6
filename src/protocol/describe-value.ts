/**
 * Describes the kind of a received value, for error messages. Never quotes text, which may be a secret or a
 * customer's data.
 */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return 'NaN';
    return Number.isFinite(value) ? 'a number' : 'an infinite number';
  }
  if (typeof value === 'string') return describeText(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function describeText(value: string): string {
  if (value.trim() === '') return value === '' ? 'an empty string' : 'a blank string';
  return value.length === 1 ? 'a string of 1 character' : `a string of ${value.length} characters`;
}

/** The message of an issue: `must be text, received a number`, or `is missing, and must be text`. */
export function describeMismatch(
  expected: string,
  value: unknown,
  received = describeValue(value),
): string {
  return value === undefined
    ? `is missing, and must be ${expected}`
    : `must be ${expected}, received ${received}`;
}

/**
 * The code of an error or of a cause, otherwise its name, if that is a word: a text with digits could be a
 * secret.
 */
export function nameFailure(error: unknown): string {
  const codes = [...causesOf(error)].map((cause) => (cause as { code?: unknown } | null)?.code);
  const name = (error as { name?: unknown } | null | undefined)?.name;
  const word = [...codes, name].find(
    (text) => typeof text === 'string' && /^[A-Za-z_]{1,64}$/.test(text),
  );
  return word === undefined ? '' : ` (${word})`;
}

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
