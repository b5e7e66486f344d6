import type { Issue } from '../errors.js';

/**
 * A validator that follows [Standard Schema](https://standardschema.dev) version 1: a schema of
 * zod, valibot, arktype and others can be passed as it is.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** What Standard Schema asks of a validator. */
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
          /** What the validator takes. */
          readonly input: Input;
          /** What it gives. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** What a {@link StandardSchemaV1} answers. */
export type StandardSchemaResult<Output> =
  | {
      /** The value that was accepted, as the validator gives it. */
      readonly value: Output;
      /** Absent when it was accepted. */
      readonly issues?: undefined;
    }
  | {
      /** Why it was refused. */
      readonly issues: readonly StandardSchemaIssue[];
    };

/** A finding of a {@link StandardSchemaV1}. */
export interface StandardSchemaIssue {
  /** What is wrong. */
  readonly message: string;
  /** Where, from the outside in. */
  readonly path?:
    | readonly (
        | PropertyKey
        | {
            /** Name or index of one step. */
            readonly key: PropertyKey;
          }
      )[]
    | undefined;
}

/** Whether a value is a validator. */
export function isStandardSchema(value: unknown): boolean {
  const standard = (value as Partial<StandardSchemaV1> | null)?.['~standard'];
  return typeof standard?.validate === 'function';
}

export function toIssues(issues: readonly StandardSchemaIssue[]): readonly Issue[] {
  return issues.map(({ message, path = [] }) => ({
    path: path.map((segment) => (typeof segment === 'object' ? segment.key : segment)),
    message,
  }));
}
