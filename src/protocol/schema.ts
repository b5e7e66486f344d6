import type * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { describeMismatch } from './describe-value.js';

/**
 * The schemas of an interface's fields, for `satisfies`: a field that is missing, superfluous or of another type does
 * not compile.
 */
export type ShapeOf<Fields> = {
  readonly [Field in keyof Required<Fields>]: z.ZodMiniType<Fields[Field]>;
};

/** What a check may add to its error, which is what the value must be: `a non-empty string`. */
export interface Hints {
  /** Describes the value that was received; by default its kind. Never quotes text. */
  readonly received?: (value: unknown) => string;
}

/**
 * Returns what is wrong with a value; `undefined` if the schema accepts it. Each schema must have its own error, since
 * those of zod may quote the value.
 */
export function findIssues(schema: z.ZodMiniType, value: unknown): readonly Issue[] | undefined {
  const { error } = schema.safeParse(value, { reportInput: true });
  return error?.issues.map((issue) => {
    const { path, message, input, params } = issue as z.core.$ZodIssueCustom;
    return {
      path,
      message: describeMismatch(message, input, (params as Hints | undefined)?.received?.(input)),
    };
  });
}
