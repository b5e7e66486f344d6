import { resolveOptions } from '../../protocol/options.js';
import {
  indexExists,
  indexName,
  type SchemaPart,
  tableExists,
} from '../../storage/postgres/schema-parts.js';
import {
  type PostgresOutboxSchemaOptions,
  type QuotedTables,
  quoteTables,
  schemaRules,
} from './options.js';

/**
 * The SQL that makes the tables of a `postgresOutbox`, for migrations run by another role than the
 * application's. Tables that exist are kept. With the default prefix it is what `schema.sql` holds.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function postgresOutboxSchema(options: PostgresOutboxSchemaOptions = {}): string {
  const { prefix } = resolveOptions(options, schemaRules);
  const statements = schemaParts(quoteTables(prefix)).map(({ create }) => create);
  return `${statements.join(';\n\n')};\n`;
}

/** What the schema consists of, in the order in which it is made. */
export function schemaParts({ payments, seconds }: QuotedTables): SchemaPart[] {
  return [
    {
      exists: tableExists(payments),
      create: `-- One row for each payment that is to be created.
CREATE TABLE IF NOT EXISTS ${payments} (
  -- The merchant's reference, or a digest of one that is long or odd.
  reference text COLLATE "C" PRIMARY KEY,
  -- JSON of what is sent, and a digest of it.
  body text NOT NULL,
  digest text NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state text NOT NULL,
  -- Who is sending it, and until when that process counts as alive.
  owner text,
  lease_until timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  recorded_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz(3),
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- What the service has: its own reference, JSON of the record, and when that is from, in microseconds
  -- since 1970.
  reference_number text COLLATE "C",
  payment text,
  payment_updated_at_us bigint,
  -- JSON of how the last attempt failed.
  failure text
) WITH (fillfactor = 80)`,
    },
    {
      exists: indexExists(payments, 'open'),
      create: `-- For recover() and unresolved(): holds what is not over, which is little.
CREATE INDEX IF NOT EXISTS ${indexName(payments, 'open')}
  ON ${payments} (state) WHERE state NOT IN ('created', 'rejected')`,
    },
    {
      exists: indexExists(payments, 'recorded_at'),
      create: `-- For prune().
CREATE INDEX IF NOT EXISTS ${indexName(payments, 'recorded_at')}
  ON ${payments} (recorded_at)`,
    },
    {
      exists: tableExists(seconds),
      create: `-- One row for each payment that the service has beside the first of its reference.
CREATE TABLE IF NOT EXISTS ${seconds} (
  reference text COLLATE "C" NOT NULL,
  reference_number text COLLATE "C" NOT NULL,
  -- JSON of what was sent for the reference.
  body text NOT NULL,
  -- JSON of the record, and when that is from, in microseconds since 1970.
  payment text NOT NULL,
  payment_updated_at_us bigint,
  found_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (reference, reference_number)
)`,
    },
  ];
}
