import {
  boolean,
  type OptionRules,
  type Resolved,
  timerMs,
  withDefault,
} from '../protocol/options.js';
import { tablePrefix } from '../store/sql/table-prefix.js';
import { quoteName } from './names.js';

/** Options of {@link mysqlInbox}. */
export interface MysqlInboxOptions extends MysqlInboxSchemaOptions {
  /**
   * How long a callback waits for another one of its payment, in milliseconds, before it is `busy`.
   * Keep it below the time that the service waits for an answer. The server's `innodb_lock_wait_timeout` (50 s)
   * ends the wait earlier if it is shorter. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  lockTimeoutMs?: number | undefined;
  /**
   * How long a callback waits for a connection of the pool, in milliseconds; by default, a pool waits
   * without a limit. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  acquireTimeoutMs?: number | undefined;
  /**
   * How long the server may take to answer a statement of the inbox, in milliseconds, not counting a wait
   * for another callback. After that, the inbox closes the connection, since the network may have swallowed the
   * answer, and the callback fails (`STORE_TIMEOUT`). A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
  /**
   * The longest time that a transaction may take, in milliseconds, including the work and all of its statements,
   * but not the COMMIT. After that, the inbox closes the connection, the signal aborts, and the callback fails
   * (`STORE_TIMEOUT`). On a network that swallows packets, nothing else ends a statement of your work, unless
   * you give it a `timeout`. It is also the deadline of `setup()` and of each batch of
   * `prune()`. Keep it above the receiver's `onPaymentTimeoutMs`. A whole number from 1 to
   * 2_147_483_647.
   * @default 600_000
   */
  transactionTimeoutMs?: number | undefined;
  /**
   * The longest time that the work may go without a statement, in milliseconds, before the server ends its
   * connection (`TRANSACTION_LOST`, and the signal aborts). It sets the session's `wait_timeout`, in whole
   * seconds, rounded up. Without this limit, a machine that vanished would keep its payment locked for eight
   * hours. A whole number from 1 to 2_147_483_647.
   * @default 60_000
   */
  idleTimeoutMs?: number | undefined;
  /**
   * Whether the body of a failed change is stored as received, so that the change can be replayed. It is
   * personal data: make sure that `prune()` runs.
   * @default false
   */
  keepBodies?: boolean | undefined;
}

/** The names of the tables of a `mysqlInbox`. */
export interface MysqlInboxSchemaOptions {
  /**
   * The prefix of the tables (`events`, `locks`, `failures`) and procedures: 1 to 40 ASCII letters,
   * digits and underscores, not starting with a digit. Put the database in front if it is not the pool's:
   * `'billing.payment_inbox_'`.
   * @default 'payment_inbox_'
   */
  prefix?: string | undefined;
}

/** Names of the tables and procedures, quoted for SQL. */
export interface QuotedTables {
  /** One row for each processed change. */
  readonly events: string;
  /** The rows whose locks serialize the changes of a payment. */
  readonly locks: string;
  /** One row for each change whose work failed. */
  readonly failures: string;
  /** The procedure that claims an event. */
  readonly claim: string;
  /** The procedure that records a claimed event as processed and commits. */
  readonly record: string;
}

export const schemaRules = {
  prefix: withDefault('payment_inbox_', tablePrefix),
} satisfies OptionRules<MysqlInboxSchemaOptions>;

export const inboxRules = {
  ...schemaRules,
  lockTimeoutMs: withDefault(5_000, timerMs()),
  acquireTimeoutMs: withDefault(5_000, timerMs()),
  commandTimeoutMs: withDefault(5_000, timerMs()),
  transactionTimeoutMs: withDefault(600_000, timerMs()),
  idleTimeoutMs: withDefault(60_000, timerMs()),
  keepBodies: withDefault(false, boolean),
} satisfies OptionRules<MysqlInboxOptions>;

/** How long the inbox waits, in milliseconds. */
export type Timeouts = Omit<Resolved<typeof inboxRules>, 'prefix' | 'keepBodies'>;

// A release that changes a procedure must raise this: instances of both releases then run side by
// side, each with its own procedures, and setup() creates the missing ones.
const PROCEDURES_VERSION = 'v1';

/** @param prefix already validated */
export function quoteTables(prefix: string): QuotedTables {
  return {
    events: quoteName(`${prefix}events`),
    locks: quoteName(`${prefix}locks`),
    failures: quoteName(`${prefix}failures`),
    claim: quoteName(`${prefix}claim_${PROCEDURES_VERSION}`),
    record: quoteName(`${prefix}record_${PROCEDURES_VERSION}`),
  };
}

/** Qualifies the names with the database, unless the prefix already names one. */
export function inDatabase(tables: QuotedTables, database: string): QuotedTables {
  if (tables.events.includes('.') || database === '') return tables;
  const home = `\`${database.replaceAll('`', '``')}\``;
  return {
    events: `${home}.${tables.events}`,
    locks: `${home}.${tables.locks}`,
    failures: `${home}.${tables.failures}`,
    claim: `${home}.${tables.claim}`,
    record: `${home}.${tables.record}`,
  };
}
