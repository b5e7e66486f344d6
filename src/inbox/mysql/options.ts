import {
  boolean,
  type OptionRules,
  type Resolved,
  timerMs,
  withDefault,
} from '../../protocol/options.js';
import { quoteName } from '../../storage/mysql/names.js';
import { tablePrefix } from '../../storage/table-prefix.js';

/** Options of {@link mysqlInbox}. */
export interface MysqlInboxOptions extends MysqlInboxSchemaOptions {
  /**
   * How long a callback waits for another one of its payment, in milliseconds, before it is `busy`.
   * Keep it shorter than the service waits for an answer. The server's `innodb_lock_wait_timeout` (50 s)
   * ends the wait sooner if it is shorter. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  lockTimeoutMs?: number | undefined;
  /**
   * How long a callback waits for a connection of the pool, in milliseconds; a pool by itself waits
   * for ever. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  acquireTimeoutMs?: number | undefined;
  /**
   * How long the server may take to answer a statement of the inbox, in milliseconds, besides a wait
   * for another callback. Then the connection is closed, since the network may have swallowed the answer,
   * and the callback fails (`INBOX_TIMEOUT`). A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
  /**
   * How long a transaction may take, in milliseconds, the work with all of its statements included, but
   * for the COMMIT. Then the connection is closed, the signal aborts, and the callback fails
   * (`INBOX_TIMEOUT`): nothing else ends a statement of your own on a network that swallows what is
   * sent, unless it has a `timeout` of its own. It is the deadline of `setup()` and of each batch of
   * `prune()` too. Keep it above the receiver's `onPaymentTimeoutMs`. A whole number from 1 to
   * 2_147_483_647.
   * @default 600_000
   */
  transactionTimeoutMs?: number | undefined;
  /**
   * How long the work may go without a statement, in milliseconds, before the server ends its
   * connection (`TRANSACTION_LOST`, and the signal aborts): its `wait_timeout` for that time, in whole
   * seconds, rounded up. Without a limit a machine that vanished would keep its payment locked for eight
   * hours. A whole number from 1 to 2_147_483_647.
   * @default 60_000
   */
  idleTimeoutMs?: number | undefined;
  /**
   * Whether the body of a failed change is kept with it, as received, so that it can be replayed. It is
   * personal data: see to it that `prune()` runs.
   * @default false
   */
  keepBodies?: boolean | undefined;
}

/** The names of the tables of a `mysqlInbox`. */
export interface MysqlInboxSchemaOptions {
  /**
   * What the names of the tables (`events`, `locks`, `failures`) and procedures begin with: 1 to 40 ASCII letters,
   * digits and underscores, not starting with a digit; with a database in front if it is not the pool's:
   * `'billing.payment_inbox_'`.
   * @default 'payment_inbox_'
   */
  prefix?: string | undefined;
}

/** Checked names of the tables and procedures, quoted for SQL. */
export interface QuotedTables {
  /** One row for each processed change. */
  readonly events: string;
  /** The rows that the changes of a payment wait for. */
  readonly locks: string;
  /** One row for each change whose work failed. */
  readonly failures: string;
  /** The procedure that begins a callback. */
  readonly claim: string;
  /** The procedure that records one and commits. */
  readonly record: string;
}

/** One rule for each option of the schema. */
export const schemaRules = {
  prefix: withDefault('payment_inbox_', tablePrefix),
} satisfies OptionRules<MysqlInboxSchemaOptions>;

/** One rule for each option of the inbox. */
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

// A later release that changes a procedure gives it another version: instances of both then run side by
// side, each with its own, and setup() makes what is missing.
const PROCEDURES_VERSION = 'v1';

/** The names that a checked prefix makes. */
export function quoteTables(prefix: string): QuotedTables {
  return {
    events: quoteName(`${prefix}events`),
    locks: quoteName(`${prefix}locks`),
    failures: quoteName(`${prefix}failures`),
    claim: quoteName(`${prefix}claim_${PROCEDURES_VERSION}`),
    record: quoteName(`${prefix}record_${PROCEDURES_VERSION}`),
  };
}

/** The same, in the database that is named, where they are not in another one. */
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
