import {
  boolean,
  type OptionRules,
  type Resolved,
  timerMs,
  withDefault,
} from '../protocol/options.js';
import { quoteName as quote } from './names.js';
import { tablePrefix } from '../store/sql/table-prefix.js';

/** Options of {@link postgresInbox}. */
export interface PostgresInboxOptions extends PostgresInboxSchemaOptions {
  /**
   * How long a callback waits for another one of its payment, in milliseconds, before it is `busy`.
   * Keep it below the time that the service waits for an answer. A whole number from 1 to 2_147_483_647.
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
   * How long Postgres may take to answer a statement of the inbox, in milliseconds, not counting a wait
   * for another callback. After that, the inbox closes the connection, since the network may have swallowed the
   * answer, and the callback fails (`STORE_TIMEOUT`). A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
  /**
   * The longest time that a transaction may take, in milliseconds, including the work and all of its statements,
   * but not the COMMIT. After that, the inbox closes the connection, the signal aborts, and the callback fails
   * (`STORE_TIMEOUT`). On a network that swallows packets, nothing else ends a statement of your work, unless
   * the pool has a `query_timeout`. It is also the deadline of `setup()` and of each batch of
   * `prune()`. Keep it above the receiver's `onPaymentTimeoutMs`. A whole number from 1 to
   * 2_147_483_647. It does not apply to PGlite, which runs in the same process.
   * @default 600_000
   */
  transactionTimeoutMs?: number | undefined;
  /**
   * The longest time that the work may go without a statement, in milliseconds, before Postgres ends its
   * transaction (`TRANSACTION_LOST`, and the signal aborts). Without this limit, a machine that vanished
   * would keep its payment locked until the server notices, which can take hours. A whole number
   * from 1 to 2_147_483_647. It does not apply to PGlite, which runs in the same process.
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

/** The names of the tables of a `postgresInbox`. */
export interface PostgresInboxSchemaOptions {
  /**
   * The prefix of the tables (`payments`, `events`, `failures`), their indexes and functions: 1 to 40 ASCII
   * letters, digits and underscores, not starting with a digit. Put the schema in front if it
   * is not on the `search_path`: `'billing.payment_inbox_'`. Case matters.
   * @default 'payment_inbox_'
   */
  prefix?: string | undefined;
}

/** Names of the tables and functions, quoted for SQL. */
export interface QuotedTables {
  readonly payments: string;
  readonly events: string;
  readonly failures: string;
  /** The function that claims an event, in the schema of `events`. */
  readonly claim: string;
  /** The function that records a claimed event as processed. */
  readonly record: string;
}

export const schemaRules = {
  prefix: withDefault('payment_inbox_', tablePrefix),
} satisfies OptionRules<PostgresInboxSchemaOptions>;

export const inboxRules = {
  ...schemaRules,
  lockTimeoutMs: withDefault(5_000, timerMs()),
  acquireTimeoutMs: withDefault(5_000, timerMs()),
  commandTimeoutMs: withDefault(5_000, timerMs()),
  transactionTimeoutMs: withDefault(600_000, timerMs()),
  idleTimeoutMs: withDefault(60_000, timerMs()),
  keepBodies: withDefault(false, boolean),
} satisfies OptionRules<PostgresInboxOptions>;

/** How long the inbox waits, in milliseconds. */
export type Timeouts = Omit<Resolved<typeof inboxRules>, 'prefix' | 'keepBodies'>;

// A release that changes a function must raise this: instances of both releases then run side by
// side, each with its own functions, and setup() creates the missing ones.
const FUNCTIONS_VERSION = 'v1';

/** @param prefix already validated */
export function quoteTables(prefix: string): QuotedTables {
  return {
    payments: quote(`${prefix}payments`),
    events: quote(`${prefix}events`),
    failures: quote(`${prefix}failures`),
    claim: quote(`${prefix}claim_${FUNCTIONS_VERSION}`),
    record: quote(`${prefix}record_${FUNCTIONS_VERSION}`),
  };
}
