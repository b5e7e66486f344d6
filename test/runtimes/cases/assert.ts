// Of our own: workerd has no node:assert without its Node compatibility.

/** Equal as JSON tells it, with `undefined` for what is missing. */
export function equal(actual: unknown, expected: unknown, what = 'value'): void {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (seen !== wanted) throw new Error(`${what}: expected ${wanted}, received ${seen}`);
}

export function isTrue(condition: boolean, what: string): void {
  if (!condition) throw new Error(`expected: ${what}`);
}

/** What a call throws or rejects with. */
export async function errorOf(run: () => unknown): Promise<Record<string, unknown> & Error> {
  let value: unknown;
  try {
    value = await run();
  } catch (error) {
    return error as Record<string, unknown> & Error;
  }
  throw new Error(`expected an error, received ${JSON.stringify(value)}`);
}

/** The error's `code`, and for a call of the client what it says of the payment. */
export async function failsWith(
  run: () => unknown,
  code: string,
  requestOutcome?: string,
): Promise<Record<string, unknown> & Error> {
  const error = await errorOf(run);
  const told = `${error.name}: ${error.message}`;
  equal(error['code'], code, `code of ${told}`);
  if (requestOutcome !== undefined) {
    equal(error['requestOutcome'], requestOutcome, `requestOutcome of ${told}`);
  }
  return error;
}
