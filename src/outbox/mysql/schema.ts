import { resolveOptions } from '../../protocol/options.js';
import {
  type MysqlOutboxSchemaOptions,
  type QuotedTables,
  quoteTables,
  schemaRules,
} from './options.js';

/**
 * The SQL that makes the tables of a `mysqlOutbox`, for migrations run by another user than the application:
 * statements to run one after another, without a semicolon. Tables that exist are kept. With the default prefix
 * it is what `schema.sql` holds.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function mysqlOutboxSchema(options: MysqlOutboxSchemaOptions = {}): string[] {
  const { prefix } = resolveOptions(options, schemaRules);
  return createTables(quoteTables(prefix));
}

// Of all text: bytes are compared, so that case counts, and so would blanks.
const OPTIONS = 'ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin';

/** The statements that make the tables where they do not exist. */
export function createTables({ payments, seconds }: QuotedTables): string[] {
  return [
    `-- One row for each payment that is to be created.
CREATE TABLE IF NOT EXISTS ${payments} (
  -- The merchant's reference, or a digest of one that is long or odd.
  reference varchar(128) NOT NULL PRIMARY KEY,
  -- JSON of what is sent, and a digest of it.
  body longtext NOT NULL,
  digest varchar(64) NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state varchar(16) NOT NULL,
  -- Who is sending it, and until when that process counts as alive. Times are in milliseconds since 1970.
  owner varchar(64),
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- What the service has: its own reference, JSON of the record, and when that is from, in microseconds
  -- since 1970.
  reference_number varchar(128),
  payment longtext,
  payment_updated_at_us bigint,
  -- JSON of how the last attempt failed.
  failure longtext,
  -- For recover(), unresolved() and prune().
  KEY state_changed_at_ms (state, changed_at_ms)
) ${OPTIONS}`,
    `-- One row for each payment that the service has beside the first of its reference.
CREATE TABLE IF NOT EXISTS ${seconds} (
  reference varchar(128) NOT NULL,
  reference_number varchar(128) NOT NULL,
  -- JSON of what was sent for the reference.
  body longtext NOT NULL,
  -- JSON of the record, and when that is from, in microseconds since 1970.
  payment longtext NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (reference, reference_number)
) ${OPTIONS}`,
  ];
}
