import {
  assertKnownOptions,
  assertOptionsObject,
  type OptionNames,
} from '../../protocol/assert-option.js';
import { createFunctions } from './functions.js';
import {
  type PostgresInboxTables,
  type QuotedTables,
  quoteTables,
  withoutSchema,
} from './tables.js';

const NAMES: OptionNames<PostgresInboxTables> = { paymentsTable: true, eventsTable: true };

/**
 * The SQL that makes the tables and functions of a `postgresInbox`, for migrations run by another
 * role than the application's. Tables that exist are kept, those of version 0.1 too. With the default
 * names it is what `schema.sql` holds.
 *
 * @throws {InvalidOptionError} when a name is not plain, both are the same, or an option is unknown
 */
export function postgresInboxSchema(options: PostgresInboxTables = {}): string {
  assertOptionsObject('options', options, 'paymentsTable and eventsTable');
  assertKnownOptions(options, NAMES);
  const statements = schemaParts(quoteTables(options)).map(({ create }) => create);
  return `${statements.join(';\n\n')};\n`;
}

/** A table, an index or a function. */
export interface SchemaPart {
  /** An SQL condition: whether it is there, or may be left out. */
  readonly exists: string;
  /** The statement that makes it where it is not. */
  readonly create: string;
}

/** What the schema consists of, in the order in which it is made. */
export function schemaParts(tables: QuotedTables): SchemaPart[] {
  const { payments, events } = tables;
  return [
    {
      exists: tableExists(payments),
      create: `-- One row for each payment.
CREATE TABLE IF NOT EXISTS ${payments} (
  payment_reference text PRIMARY KEY,
  -- When the latest processed change happened, in microseconds since 1970.
  occurred_at_us bigint,
  -- When a change was last processed.
  changed_at timestamptz NOT NULL DEFAULT now()
)`,
    },
    {
      exists: indexExists(payments, 'changed_at'),
      create: `-- For prune().
CREATE INDEX IF NOT EXISTS ${indexName(payments, 'changed_at')}
  ON ${payments} (changed_at)`,
    },
    {
      exists: tableExists(events),
      create: `-- One row for each processed change. No foreign key: prune() clears either table by itself.
CREATE TABLE IF NOT EXISTS ${events} (
  payment_reference text NOT NULL,
  key text NOT NULL,
  -- When the change happened, in microseconds since 1970.
  occurred_at_us bigint NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (payment_reference, key)
)`,
    },
    {
      exists: indexExists(events, 'processed_at'),
      create: `-- For prune().
CREATE INDEX IF NOT EXISTS ${indexName(events, 'processed_at')}
  ON ${events} (processed_at)`,
    },
    { exists: functionsExist(tables), create: createFunctions(tables) },
  ];
}

// Names are plain, so no quote needs to be doubled.
function tableExists(table: string): string {
  return `to_regclass('${table}') IS NOT NULL`;
}

function indexExists(table: string, column: string): string {
  const name = indexName(table, column).slice(1, -1);
  return `EXISTS (SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indrelid = to_regclass('${table}') AND relname = '${name}')`;
}

// Without them the same is done by longer messages, so a role that may not make them does without.
function functionsExist({ events, claim, record }: QuotedTables): string {
  const names = [claim, record].map((name) => `'${withoutSchema(name).slice(1, -1)}'`);
  return `EXISTS (SELECT FROM pg_class WHERE pg_class.oid = to_regclass('${events}') AND (
  (SELECT count(DISTINCT proname) FROM pg_proc
    WHERE pronamespace = relnamespace AND proname IN (${names.join(', ')})) = ${names.length}
  OR NOT has_schema_privilege(relnamespace, 'CREATE')))`;
}

// Without the schema: an index lives in that of its table.
function indexName(table: string, column: string): string {
  return `${withoutSchema(table).slice(0, -1)}_${column}"`;
}
