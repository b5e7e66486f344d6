import {
  LONGEST_TIMER_MS,
  matching,
  type OptionRules,
  type Resolved,
  type Rule,
  timerMs,
  withDefault,
} from '../../protocol/options.js';
import { type StoreOptions, storeRules } from '../options.js';

/** The name of the tables of a store on a database server. */
export interface SchemaOptions {
  /**
   * The prefix of the tables (`payments`, `changes`, `failed_changes`, `second_payments`) and their indexes: 1 to 40 ASCII
   * letters, digits and underscores, not starting with a digit. Put the schema (in MySQL, the database) in front if the
   * connection does not look there: `'billing.payment_store_'`. Case matters.
   * @default 'payment_store_'
   */
  prefix?: string | undefined;
}

/** Options of a store on a database server. */
export interface ServerStoreOptions extends StoreOptions, SchemaOptions {
  /**
   * How long a callback waits for another one of its order, in milliseconds, before it is `busy`. Keep it below the time
   * that the service waits for an answer. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  lockTimeoutMs?: number | undefined;
  /**
   * How long a call waits for a connection of the pool, in milliseconds; a pool may wait without a limit. A whole number
   * from 1 to 2_147_483_647. It does not apply to PGlite, which has one.
   * @default 5_000
   */
  acquireTimeoutMs?: number | undefined;
  /**
   * How long the server may take to answer a statement of the store, in milliseconds, not counting a callback's wait for
   * another one. After that, the store closes the connection, since the network may have swallowed the answer, and the call
   * fails (`STORE_TIMEOUT`). With an ORM, `acquireTimeoutMs` is added. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
  /**
   * The longest time that the transaction of a change may take, in milliseconds, with the work and all of its statements,
   * but not the COMMIT. After that, the store closes the connection, the signal aborts, and the callback fails
   * (`STORE_TIMEOUT`). On a network that swallows packets, nothing else ends a statement of your work, unless the driver has
   * a deadline for queries. Postgres, and MariaDB without an ORM, end the transaction of a machine that vanished after this
   * time and `commandTimeoutMs` without a statement; MySQL when it notices. Keep it above the receiver's
   * `onPaymentTimeoutMs`. A whole number from 1 to 2_147_483_647. It does not apply to PGlite.
   * @default 120_000, twice that of onPaymentTimeoutMs
   */
  transactionTimeoutMs?: number | undefined;
}

// Postgres truncates names at 63 bytes, and the longest suffix has 23.
const NAME = '[a-z_][a-z0-9_]{0,39}';
const EXPECTED = '1 to 40 ASCII letters, digits and underscores, not starting with a digit';

/** The prefix of the tables, after an optional schema, which in MySQL is a database. */
export const tablePrefix: Rule<string> = /* @__PURE__ */ prefixRule(
  `^(?:[a-z_][a-z0-9_]{0,49}\\.)?${NAME}$`,
  `${EXPECTED}, with a schema in front if needed ('billing.payments_')`,
);

/** The same for SQLite, which reserves `sqlite_` and has no schemas. */
export const sqliteTablePrefix: Rule<string> = /* @__PURE__ */ prefixRule(
  `^(?!sqlite_)${NAME}$`,
  `${EXPECTED} or sqlite_`,
);

function prefixRule(form: string, expected: string): Rule<string> {
  const pattern = new RegExp(form, 'i');
  return matching(expected, (prefix) => typeof prefix === 'string' && pattern.test(prefix));
}

export const schemaRules = {
  prefix: withDefault('payment_store_', tablePrefix),
} satisfies OptionRules<SchemaOptions>;

/** One rule for each option. */
export const serverStoreRules = {
  ...storeRules,
  ...schemaRules,
  lockTimeoutMs: withDefault(5_000, timerMs()),
  acquireTimeoutMs: withDefault(5_000, timerMs()),
  commandTimeoutMs: withDefault(5_000, timerMs()),
  transactionTimeoutMs: withDefault(120_000, timerMs()),
} satisfies OptionRules<ServerStoreOptions>;

/** Checked, and with defaults. */
export type ResolvedServerOptions = Resolved<typeof serverStoreRules>;

/** How long a server may take, in milliseconds. */
export type ServerTimeouts = Pick<
  ResolvedServerOptions,
  'acquireTimeoutMs' | 'lockTimeoutMs' | 'commandTimeoutMs' | 'transactionTimeoutMs'
>;

/** When the server ends a transaction whose machine has vanished: after this process's deadline, which says why. */
export function silenceLimitMs({ transactionTimeoutMs, commandTimeoutMs }: ServerTimeouts): number {
  return Math.min(transactionTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
}
