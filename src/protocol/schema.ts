import type * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { describeMismatch } from './describe-value.js';
import { isObject } from './own-fields.js';

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

/** What an object must be. Each schema must have its own error, since those of zod may quote the value. */
export interface ObjectSchema {
  readonly fields: Readonly<Record<string, z.ZodMiniType>>;
  /** Follows "must be". */
  readonly expected: string;
}

/** Returns what is wrong with a value; `undefined` if the schema accepts it. */
export function findIssues(schema: ObjectSchema, value: unknown): readonly Issue[] | undefined {
  if (!isObject(value)) return [{ path: [], message: describeMismatch(schema.expected, value) }];
  const issues = Object.entries(schema.fields).flatMap(([name, field]) => {
    const given = (value as Readonly<Record<string, unknown>>)[name];
    const found = (field.safeParse(given).error?.issues ?? []) as readonly z.core.$ZodIssueCustom[];
    return found.map(({ message, params }) => {
      const received = (params as Hints | undefined)?.received?.(given);
      return { path: [name], message: describeMismatch(message, given, received) };
    });
  });
  return issues.length === 0 ? undefined : issues;
}
