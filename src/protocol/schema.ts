import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { describeMismatch } from './describe-value.js';
import { isObject, ownFields } from './own-fields.js';

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
}

export type Shape = Readonly<Record<string, z.ZodMiniType>>;
type OutputOf<Fields extends Shape> = { [Field in keyof Fields]: z.output<Fields[Field]> };

/**
 * An object with these fields, of which the schema returns a copy without others that inherits nothing.
 *
 * @param refuse finds a field that the object must not have
 */
export function fields<const Fields extends Shape>(
  shape: Fields,
  expected: string,
  refuse?: (value: object) => Hints | undefined,
) {
  const entries = Object.entries(shape);
  return z.transform((value: unknown, { issues }): OutputOf<Fields> => {
    const params = isObject(value) ? refuse?.(value) : undefined;
    if (isObject(value) && params === undefined) {
      return readAll(value, entries, issues) as OutputOf<Fields>;
    }
    issues.push({ code: 'custom', message: expected, input: value, params });
    return {} as OutputOf<Fields>;
  });
}

/** What a schema returns, or the fallback for what it refuses. */
export function orElse<Output>(schema: z.ZodMiniType<Output>, fallback: NoInfer<Output>) {
  return z.transform((value: unknown): Output => {
    const result = run(schema, value);
    return result.findings === undefined ? result.output : fallback;
  });
}

function readAll(
  value: object,
  entries: readonly (readonly [string, z.ZodMiniType])[],
  issues: z.core.$ZodRawIssue[],
): Record<string, unknown> {
  let payload = payloadOf(undefined);
  const copy: Record<string, unknown> = ownFields({});
  for (const [name, schema] of entries) {
    payload.value = (value as Readonly<Record<string, unknown>>)[name];
    const checked = schema._zod.run(payload, CONTEXT) as z.core.ParsePayload;
    copy[name] = checked.value;
    if (checked.issues.length === 0) continue;
    for (const issue of checked.issues) issues.push(finish(issue, name));
    payload = payloadOf(undefined);
  }
  return copy;
}

const payloadOf = (value: unknown): z.core.ParsePayload => ({ value, issues: [] });

const CONTEXT: z.core.ParseContextInternal = { async: false };

type FoundIssue = z.core.$ZodRawIssue<z.core.$ZodIssueCustom> & {
  readonly params: Hints | undefined;
};

/** Completes an issue as zod would. */
function finish(issue: z.core.$ZodRawIssue, name?: string): FoundIssue {
  const message = issue.message ?? (issue.inst?._zod.def.error?.(issue as never) as string);
  const path = [...(name === undefined ? [] : [name]), ...(issue.path ?? [])];
  const { input, params } = issue;
  return { code: 'custom', message, path, input, params: params as Hints | undefined };
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

const NO_HINTS: Hints = Object.freeze({ received: undefined });

/** Checks a value. Each schema has its own error, since those of zod may quote the value. */
export function run<Output>(schema: z.ZodMiniType<Output>, value: unknown): Result<Output> {
  // A union returns the payload of the member that fits, not the one that it was given.
  const { value: output, issues } = schema._zod.run(
    payloadOf(value),
    CONTEXT,
  ) as z.core.ParsePayload;
  if (issues.length === 0) return { findings: undefined, output: output as Output };
  return { findings: Array.from(issues, (issue) => toFinding(finish(issue))) };
}

function toFinding({ path = [], message = '', input, params }: FoundIssue): Finding {
  return { path, expected: message, value: input, hints: { ...NO_HINTS, ...params } };
}

/** Returns what is wrong with a value; `undefined` if the schema accepts it. */
export function findIssues(schema: z.ZodMiniType, value: unknown): readonly Issue[] | undefined {
  return run(schema, value).findings?.map(toIssue);
}

/** A finding in words. */
export function toIssue({ path, expected, value, hints }: Finding): Issue {
  return { path, message: describeMismatch(expected, value, hints.received?.(value)) };
}
