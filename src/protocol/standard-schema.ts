import type { Issue } from '../errors.js';
import { logText } from './plain-text.js';

/**
 * A validator that follows [Standard Schema](https://standardschema.dev) version 1: schemas of zod, valibot,
 * arktype and others can be passed as they are.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** The part of a validator that Standard Schema defines. */
  readonly '~standard': {
    /** Version of Standard Schema. */
    readonly version: 1;
    /** The validator library. */
    readonly vendor: string;
    /** Checks a value. */
    readonly validate: (
      value: unknown,
    ) => StandardSchemaResult<Output> | Promise<StandardSchemaResult<Output>>;
    /** For the type system only. */
    readonly types?:
      | {
          /** The validator's input type. */
          readonly input: Input;
          /** The validator's output type. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** The accepted value, as the validator returns it, or why the value was refused. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** A finding of a {@link StandardSchemaV1}. */
export interface StandardSchemaIssue {
  /** What is wrong. */
  readonly message: string;
  /** The path to it, from the outside in: names and indexes, or objects with one as `key`. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether a value is a validator. */
export function isStandardSchema(value: unknown): boolean {
  const schema = value as Partial<StandardSchemaV1> | null | undefined;
  return typeof schema?.['~standard']?.validate === 'function';
}

/** The issues with their texts, which may quote the value, safe to log. */
export function toIssues(issues: readonly StandardSchemaIssue[]): readonly Issue[] {
  // A validator may break the rule that a message is text.
  const shown = <Text>(text: Text) => (typeof text === 'string' ? logText(text) : text);
  return issues.map(({ path = [], message }) => ({
    path: path.map((segment) => shown(typeof segment === 'object' ? segment.key : segment)),
    message: shown(message),
  }));
}
