import { type OptionRules, type Resolved, timerMs, withDefault } from '../protocol/options.js';
import { quoteName } from './names.js';
import { tablePrefix } from '../store/sql/table-prefix.js';
import { logRules, type OutboxOptions, outboxRules } from '../store/options.js';

/** The names of the tables of a `postgresOutbox`. */
export interface PostgresOutboxSchemaOptions {
  /**
   * The prefix of the tables (`payments`, `second_payments`) and their indexes: 1 to 40 ASCII
   * letters, digits and underscores, not starting with a digit. Put the schema in front if it is not on the
   * `search_path`: `'billing.payment_outbox_'`. Case matters.
   * @default 'payment_outbox_'
   */
  prefix?: string | undefined;
}

/** Options of {@link postgresOutbox}. */
export interface PostgresOutboxOptions extends OutboxOptions, PostgresOutboxSchemaOptions {
  /**
   * How long a call waits for a connection of the pool, in milliseconds; by default, a pool waits without a limit. A
   * whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  acquireTimeoutMs?: number | undefined;
  /**
   * How long Postgres may take to answer a statement of the outbox, in milliseconds, including a wait for one of
   * your transactions that recorded the same reference. After that, the outbox closes the connection and the call
   * fails (`STORE_TIMEOUT`). With an ORM, the limit is this plus `acquireTimeoutMs`. A whole number from 1 to
   * 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
}

export const schemaRules = {
  prefix: withDefault('payment_outbox_', tablePrefix),
} satisfies OptionRules<PostgresOutboxSchemaOptions>;

export const postgresOutboxRules = {
  ...outboxRules,
  ...logRules,
  ...schemaRules,
  acquireTimeoutMs: withDefault(5_000, timerMs()),
  commandTimeoutMs: withDefault(5_000, timerMs()),
} satisfies OptionRules<PostgresOutboxOptions>;

/** How long the outbox waits, in milliseconds. */
export type Timeouts = Pick<
  Resolved<typeof postgresOutboxRules>,
  'acquireTimeoutMs' | 'commandTimeoutMs'
>;

/** Names of the tables, quoted for SQL. */
export interface QuotedTables {
  readonly payments: string;
  readonly seconds: string;
}

export function quoteTables(prefix: string): QuotedTables {
  return {
    payments: quoteName(`${prefix}payments`),
    seconds: quoteName(`${prefix}second_payments`),
  };
}
