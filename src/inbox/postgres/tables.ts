import { InvalidOptionError } from '../../errors.js';
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

/** Checked names of the tables and functions, quoted for SQL. */
export interface QuotedTables {
  readonly payments: string;
  readonly events: string;
  /** The function that claims an event, in the schema of `events`. */
  readonly claim: string;
  /** The function that records one. */
  readonly record: string;
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
  return {
    payments: quote(paymentsTable),
    events: quote(eventsTable),
    claim: quote(`${eventsTable}_claim`),
    record: quote(`${eventsTable}_record`),
  };
}

/** The name alone, quoted. */
export function withoutSchema(table: string): string {
  const [name = table] = table.split('.').reverse();
  return name;
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
