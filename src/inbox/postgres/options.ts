import {
  boolean,
  type OptionRules,
  type Resolved,
  timerMs,
  withDefault,
} from '../../protocol/options.js';
import { quoteName as quote } from '../../storage/postgres/names.js';
import { tablePrefix } from '../../storage/table-prefix.js';

/** Options of {@link postgresInbox}. */
export interface PostgresInboxOptions extends PostgresInboxSchemaOptions {
  /**
   * How long a callback waits for another one of its payment, in milliseconds, before it is `busy`.
   * Keep it shorter than the service waits for an answer. A whole number from 1 to 2_147_483_647.
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
   * How long Postgres may take to answer a statement of the inbox, in milliseconds, besides a wait
   * for another callback. Then the connection is closed, since the network may have swallowed the answer,
   * and the callback fails (`INBOX_TIMEOUT`). A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
  /**
   * How long a transaction may take, in milliseconds, the work with all of its statements included, but
   * for the COMMIT. Then the connection is closed, the signal aborts, and the callback fails
   * (`INBOX_TIMEOUT`): nothing else ends a statement of your own on a network that swallows what is
   * sent, unless the pool has a `query_timeout`. It is the deadline of `setup()` and of each batch of
   * `prune()` too. Keep it above the receiver's `onPaymentTimeoutMs`. A whole number from 1 to
   * 2_147_483_647. PGlite, which shares the process, has none.
   * @default 600_000
   */
  transactionTimeoutMs?: number | undefined;
  /**
   * How long the work may go without a statement, in milliseconds, before Postgres ends its
   * transaction (`TRANSACTION_LOST`, and the signal aborts). Without a limit a machine that vanished
   * would keep its payment locked until the server notices, which can take hours. A whole number
   * from 1 to 2_147_483_647. PGlite, which shares the process, has none.
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

/** The names of the tables of a `postgresInbox`. */
export interface PostgresInboxSchemaOptions {
  /**
   * What the names of the tables (`payments`, `events`, `failures`), their indexes and functions begin
   * with: 1 to 40 ASCII letters, digits and underscores, not starting with a digit; with a schema in front if it
   * is not on the `search_path`: `'billing.payment_inbox_'`. Case matters.
   * @default 'payment_inbox_'
   */
  prefix?: string | undefined;
}

/** Checked names of the tables and functions, quoted for SQL. */
export interface QuotedTables {
  readonly payments: string;
  readonly events: string;
  readonly failures: string;
  /** The function that claims an event, in the schema of `events`. */
  readonly claim: string;
  /** The function that records one. */
  readonly record: string;
}

/** One rule for each option of the schema. */
export const schemaRules = {
  prefix: withDefault('payment_inbox_', tablePrefix),
} satisfies OptionRules<PostgresInboxSchemaOptions>;

/** One rule for each option of the inbox. */
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

// A later release that changes a function gives it another version: instances of both then run side by
// side, each with its own, and setup() makes what is missing.
const FUNCTIONS_VERSION = 'v1';

/** The names that a checked prefix makes. */
export function quoteTables(prefix: string): QuotedTables {
  return {
    payments: quote(`${prefix}payments`),
    events: quote(`${prefix}events`),
    failures: quote(`${prefix}failures`),
    claim: quote(`${prefix}claim_${FUNCTIONS_VERSION}`),
    record: quote(`${prefix}record_${FUNCTIONS_VERSION}`),
  };
}
