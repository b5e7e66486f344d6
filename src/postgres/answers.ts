import { isReadOnly } from './failures.js';

/** The answer to one statement. */
export interface Answer {
  readonly rows: readonly object[];
  /** How many rows were changed, by pg. */
  readonly rowCount?: unknown;
  /** The same, by PGlite. */
  readonly affectedRows?: unknown;
  readonly command?: string;
}

/** The answers to a text of several statements, as pg and PGlite return them. */
export function listOf(results: unknown): readonly Answer[] {
  return (Array.isArray(results) ? results : [results]) as readonly Answer[];
}

/**
 * Whether a statement outside a step has changed a row; undefined if only a step can tell, also where transactions are
 * read-only by default, as that of a step is not.
 */
export async function hasChanged(running: Promise<Answer>): Promise<boolean | undefined> {
  try {
    const { rowCount, affectedRows = rowCount } = await running;
    return typeof affectedRows === 'number' ? affectedRows > 0 : undefined;
  } catch (error) {
    if (isReadOnly(error)) return undefined;
    throw error;
  }
}
