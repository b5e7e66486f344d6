/** A variable of the environment; undefined too in a runtime that does not allow it to be read. */
export function readVariable(name: string): string | undefined {
  try {
    return globalThis.process?.env?.[name];
  } catch {
    return undefined;
  }
}
