/** A guard of the engine, and the code without it. */
export interface Mutant {
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
  /** A part of the name of scenes that notice it; or `none: ` and why nothing goes wrong without the guard. */
  readonly scene: string;
}

/** The mutants of a table: by file, by the code that they change, and by what it becomes. */
export function listMutants(
  table: Record<string, Record<string, Record<string, string>>>,
): readonly Mutant[] {
  return Object.entries(table).flatMap(([file, guards]) =>
    Object.entries(guards).flatMap(([from, changes]) =>
      Object.entries(changes).map(([to, scene]) => ({ file, from, to, scene })),
    ),
  );
}
