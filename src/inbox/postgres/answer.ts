import { InboxError } from '../../errors.js';

/** A row as a driver gives it: an object, or an array where the pool is set so. */
export type Row = object;

/**
 * The one text that a statement of the inbox gives. Everything it asks for is text: a pool may parse
 * any other type in its own way, and `f` is true to JavaScript.
 *
 * @throws {InboxError} `STORE_FAILED` when it is something else
 */
export function onlyText(rows: readonly Row[] | undefined): string {
  const value: unknown = Object.values(rows?.[0] ?? {})[0];
  if (typeof value === 'string') return value;
  throw new InboxError(
    'STORE_FAILED',
    'The pool does not give the text that Postgres answered, so nothing was processed; look for a type parser, or a wrapper of the pool, that changes what queries return',
  );
}
