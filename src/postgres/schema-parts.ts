import { sqlStateOf } from './failures.js';
import { withoutSchema } from './names.js';

/** How long the creation of a part may wait for the lock of a table: everything else queues behind it. */
export const TABLE_LOCK_TIMEOUT_MS = 2_000;

/** A table, an index or a function. */
export interface SchemaPart {
  /** An SQL condition that is true if it exists, or is not needed. */
  readonly exists: string;
  /** The statement that creates it. */
  readonly create: string;
}

/** The SQL condition that a table exists. Names are plain, so no quotes need to be escaped. */
export function tableExists(table: string): string {
  return `to_regclass('${table}') IS NOT NULL`;
}

/** The SQL condition that a table has an index. */
export function indexExists(table: string, suffix: string): string {
  const name = indexName(table, suffix).slice(1, -1);
  return `EXISTS (SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indrelid = to_regclass('${table}') AND relname = '${name}')`;
}

/** The name of an index, without a schema, as an index is always in that of its table. */
export function indexName(table: string, suffix: string): string {
  return `${withoutSchema(table).slice(0, -1)}_${suffix}"`;
}

const UNDEFINED_DATABASE = '3D000';
const UNDEFINED_SCHEMA = '3F000';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_COLUMN = '42703';
const MISSING: readonly unknown[] = [
  UNDEFINED_DATABASE,
  UNDEFINED_SCHEMA,
  UNDEFINED_TABLE,
  UNDEFINED_COLUMN,
];

/** Whether a step failed because the database or its table does not exist, or the table has other columns. */
export function isMissingTable(error: unknown): boolean {
  return MISSING.includes(sqlStateOf(error));
}

interface TableNames {
  readonly owner: 'inbox' | 'outbox';
  /** What may have made tables of the same names. */
  readonly other: string;
  /** Before the first of which the tables must exist. */
  readonly use: string;
  /** The function that returns the SQL. */
  readonly schema: string;
}

/** The message for a step that failed by {@link isMissingTable}. */
export function missingTables({ owner, other, use, schema }: TableNames): string {
  return `The database does not exist, or a table of the ${owner} is missing, is not on the search_path or has other columns, such as those of ${other} with the same prefix; create the database if it is missing, give the ${owner} a prefix of its own, and call setup() of the ${owner} once before its first ${use}, or run the SQL of ${schema} (with the default prefix: schema.sql of this package)`;
}
