import * as z from 'zod/mini';
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
  /** What to do, to end the message. */
  readonly remedy?: string;
}

/** An object with these fields, of which the schema returns a copy without others. */
export function fields<const Shape extends z.core.$ZodShape>(shape: Shape, expected: string) {
  return z.pipe(
    z.transform((value: unknown) => pick(value, Object.keys(shape))),
    z.object(shape, expected),
  );
}

/**
 * Copies the named fields of an object; returns anything else. A field that only a polluted Object.prototype has is
 * none of the object's. A caller's class may have its fields as accessors.
 */
export function pick(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const picked: Record<string, unknown> = Object.create(null);
  for (const name of names) {
    const has = Object.hasOwn(value, name) || !(name in Object.prototype);
    picked[name] = has ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return picked;
}

/** A finding of a schema. Its message is what the value must be. */
export interface Finding extends Hints {
  readonly path: readonly PropertyKey[];
  readonly expected: string;
  readonly value: unknown;
}

/** Checks a value. Each schema has an error of its own: those of zod may quote the value. */
export function run<Output>(
  schema: z.ZodMiniType<Output>,
  value: unknown,
): { readonly output: Output } | { readonly findings: readonly Finding[] } {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return { output: result.data };
  return {
    findings: result.error.issues.map(({ path, message, input, ...issue }) => ({
      path,
      expected: message,
      value: input,
      ...('params' in issue && (issue.params as Hints)),
    })),
  };
}

/** Returns what is wrong with a value; `undefined` if the schema accepts it. */
export function findIssues(schema: z.ZodMiniType, value: unknown): readonly Issue[] | undefined {
  const result = run(schema, value);
  return 'findings' in result ? result.findings.map(toIssue) : undefined;
}

function toIssue({ path, expected, value, received }: Finding): Issue {
  return { path, message: describeMismatch(expected, value, received?.(value)) };
}
