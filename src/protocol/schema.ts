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
  readonly received?: ((value: unknown) => string) | undefined;
  /** What to do, to end the message. */
  readonly remedy?: string | undefined;
}

/** An object with these fields, of which the schema returns a copy without others. */
export function fields<const Shape extends z.core.$ZodShape>(shape: Shape, expected: string) {
  const names = Object.keys(shape);
  const own = z.transform((value: unknown) => pick(value, names));
  return z.pipe(own, z.object(shape, expected));
}

/**
 * Copies the named fields of an object; returns anything else. A field that only a polluted Object.prototype has is
 * none of the object's. A caller's class may have its fields as accessors.
 */
export function pick(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    const has = Object.hasOwn(value, name) || !(name in Object.prototype);
    picked[name] = has ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return picked;
}

/** What a schema found wrong. */
export interface Finding {
  readonly path: readonly PropertyKey[];
  /** What the value must be. */
  readonly expected: string;
  readonly value: unknown;
  /** What the check has added. */
  readonly hints: Hints;
}

type Result<Output> =
  | { readonly findings: undefined; readonly output: Output }
  | { readonly findings: readonly Finding[] };

const NO_HINTS: Hints = Object.freeze({ received: undefined, remedy: undefined });

/** Checks a value. Each schema has an error of its own, since those of zod may quote the value. */
export function run<Output>(schema: z.ZodMiniType<Output>, value: unknown): Result<Output> {
  const result = z.safeParse(schema, value);
  if (result.success) return { findings: undefined, output: result.data };
  // With a context a valid record takes three times as long, so only what failed is checked again with one.
  const { issues } = z.safeParse(schema, value, { reportInput: true }).error ?? result.error;
  const findings = issues.map(({ path, message, input, ...issue }) => ({
    path,
    expected: message,
    value: input,
    hints: Object.hasOwn(issue, 'params')
      ? { ...NO_HINTS, ...(issue as { params: Hints }).params }
      : NO_HINTS,
  }));
  return { findings };
}

/** Returns what is wrong with a value; `undefined` if the schema accepts it. */
export function findIssues(schema: z.ZodMiniType, value: unknown): readonly Issue[] | undefined {
  return run(schema, value).findings?.map(toIssue);
}

function toIssue({ path, expected, value, hints }: Finding): Issue {
  return { path, message: describeMismatch(expected, value, hints.received?.(value)) };
}
