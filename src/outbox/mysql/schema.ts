import { resolveOptions } from '../../protocol/options.js';
import {
  type MysqlOutboxSchemaOptions,
  type QuotedTables,
  quoteTables,
  schemaRules,
} from './options.js';

/**
 * Returns the SQL that creates the tables of a `mysqlOutbox`, for migrations that run under another user than the
 * application's: statements to run in this order, without a final semicolon. Existing tables are kept. With the
 * default prefix, `schema.sql` has the same statements.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function mysqlOutboxSchema(options: MysqlOutboxSchemaOptions = {}): string[] {
  const { prefix } = resolveOptions(options, schemaRules);
  return createTables(quoteTables(prefix));
}

// All texts are compared bytewise: case matters.
const OPTIONS = 'ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin';

/** The statements that create the tables if they do not exist. */
export function createTables({ payments, seconds }: QuotedTables): string[] {
  return [
    `-- One row for each payment to create.
CREATE TABLE IF NOT EXISTS ${payments} (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  reference varchar(128) NOT NULL PRIMARY KEY,
  -- The request body as JSON, and its digest.
  body longtext NOT NULL,
  digest varchar(64) NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state varchar(16) NOT NULL,
  -- The fencing token of the process that sends it, and the end of its lease. Times are in milliseconds since 1970.
  owner varchar(64),
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- The payment at the service: its reference, its record as JSON, and the time of the record in microseconds
  -- since 1970.
  reference_number varchar(128),
  payment longtext,
  payment_updated_at_us bigint,
  -- Why the last attempt failed, as JSON.
  failure longtext,
  -- For recover(), unresolved() and prune().
  KEY state_changed_at_ms (state, changed_at_ms)
) ${OPTIONS}`,
    `-- One row for each further payment at the service with the same reference.
CREATE TABLE IF NOT EXISTS ${seconds} (
  reference varchar(128) NOT NULL,
  reference_number varchar(128) NOT NULL,
  -- The request body that was sent for the reference, as JSON.
  body longtext NOT NULL,
  -- The record as JSON, and the time of the record in microseconds since 1970.
  payment longtext NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (reference, reference_number)
) ${OPTIONS}`,
  ];
}
