import { type OptionRules, timerMs, withDefault } from '../protocol/options.js';
import { logRules, type OutboxOptions, outboxRules } from '../store/options.js';
import { tablePrefix } from '../store/sql/table-prefix.js';
import { quoteName } from './names.js';

/** The names of the tables of a `mysqlOutbox`. */
export interface MysqlOutboxSchemaOptions {
  /**
   * The prefix of the tables (`payments`, `second_payments`): 1 to 40 ASCII letters, digits
   * and underscores, not starting with a digit. Put the database in front if it is not the pool's:
   * `'billing.payment_outbox_'`.
   * @default 'payment_outbox_'
   */
  prefix?: string | undefined;
}

/** Options of {@link mysqlOutbox}. */
export interface MysqlOutboxOptions extends OutboxOptions, MysqlOutboxSchemaOptions {
  /**
   * How long a call waits for a connection of the pool, in milliseconds; by default, a pool waits without a limit. A
   * whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  acquireTimeoutMs?: number | undefined;
  /**
   * How long a step of the outbox, which is a short transaction, may take at the server, in milliseconds, including a
   * wait for one of your transactions that recorded the same reference. After that, the outbox closes the connection
   * and the call fails (`STORE_TIMEOUT`). With an ORM, the limit is this plus `acquireTimeoutMs`. A whole number
   * from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
}

export const schemaRules = {
  prefix: withDefault('payment_outbox_', tablePrefix),
} satisfies OptionRules<MysqlOutboxSchemaOptions>;

export const mysqlOutboxRules = {
  ...outboxRules,
  ...logRules,
  ...schemaRules,
  acquireTimeoutMs: withDefault(5_000, timerMs()),
  commandTimeoutMs: withDefault(5_000, timerMs()),
} satisfies OptionRules<MysqlOutboxOptions>;

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
