import { InvalidOptionError } from '../../errors.js';
import { assertOptionsObject } from '../../protocol/assert-option.js';
import { describeValue } from '../../protocol/describe-value.js';

/** The names of the tables of a `postgresInbox`. */
export interface PostgresInboxTables {
  /**
   * The table with one row for each payment: ASCII letters, digits and underscores, 50 at most, not
   * starting with a digit; with a schema in front if it is not on the `search_path`:
   * `billing.inbox_payments`. Case matters.
   * @default 'payment_inbox_payments'
   */
  paymentsTable?: string | undefined;
  /**
   * The table with one row for each processed change, named by the same rules.
   * @default 'payment_inbox_events'
   */
  eventsTable?: string | undefined;
}

/** Checked names, quoted for SQL. */
export interface QuotedTables {
  readonly payments: string;
  readonly events: string;
}

// Postgres cuts a name at 63 bytes, and the index of a table has 13 more than the table.
const NAME = /^(?:[a-z_][a-z0-9_]{0,49}\.)?[a-z_][a-z0-9_]{0,49}$/i;

/** @throws {InvalidOptionError} when a name is not plain, or both are the same */
export function quoteTables(options: PostgresInboxTables): QuotedTables {
  const { paymentsTable = 'payment_inbox_payments', eventsTable = 'payment_inbox_events' } =
    options;
  assertName('paymentsTable', paymentsTable);
  assertName('eventsTable', eventsTable);
  if (paymentsTable === eventsTable) {
    throw new InvalidOptionError(
      'eventsTable',
      'eventsTable must be another table than paymentsTable, but both have the same name',
    );
  }
  return { payments: quote(paymentsTable), events: quote(eventsTable) };
}

/**
 * The SQL that makes the tables of a `postgresInbox`, for migrations run by another role than the
 * application's. It changes nothing where they exist. With the default names it is what
 * `schema.sql` holds.
 *
 * @throws {InvalidOptionError} when a name is not plain, or both are the same
 */
export function postgresInboxSchema(options: PostgresInboxTables = {}): string {
  assertOptionsObject('options', options, 'paymentsTable and eventsTable');
  const statements = schemaParts(quoteTables(options)).map(({ create }) => create);
  return `${statements.join(';\n\n')};\n`;
}

/** A table or an index. */
export interface SchemaPart {
  /** An SQL condition: whether it is there. */
  readonly exists: string;
  /** The statement that makes it where it is not. */
  readonly create: string;
}

/** What the tables consist of, in the order in which it is made. */
export function schemaParts({ payments, events }: QuotedTables): SchemaPart[] {
  return [
    {
      exists: tableExists(payments),
      create: `-- One row for each payment. Its lock makes the changes of the payment wait for each other.
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
  ];
}

function assertName(option: string, name: unknown): void {
  if (typeof name === 'string' && NAME.test(name)) return;
  throw new InvalidOptionError(
    option,
    `${option} must be a name of letters, digits and underscores, with a schema if need be ('billing.inbox_events'), 50 characters each at most, but ${describeValue(name)} came`,
  );
}

function quote(name: string): string {
  return `"${name.replace('.', '"."')}"`;
}

/** The table's name with another schema in front, or its own again. */
export function inSchema(quotedSchema: string, table: string): string {
  return `${quotedSchema}.${withoutSchema(table)}`;
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

// Without the schema: an index lives in that of its table.
function indexName(table: string, column: string): string {
  return `${withoutSchema(table).slice(0, -1)}_${column}"`;
}

function withoutSchema(table: string): string {
  const [name = table] = table.split('.').reverse();
  return name;
}
