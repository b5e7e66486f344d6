import {
  assertKnownOptions,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../../protocol/assert-option.js';
import { type PostgresInboxTables, type QuotedTables, quoteTables } from './tables.js';

/** Options of {@link postgresInbox}. */
export interface PostgresInboxOptions extends PostgresInboxTables {
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
   * and the callback fails (`INBOX_TIMEOUT`). Statements of your own have what you give them: the
   * pool's `query_timeout`. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
  /**
   * How long the work may go without a statement, in milliseconds, before Postgres ends its
   * transaction (`TRANSACTION_LOST`, and the signal aborts). Without a limit a machine that vanished
   * would keep its payment locked until the server notices, which can take hours. A whole number
   * from 1 to 2_147_483_647. PGlite, which shares the process, has none.
   * @default 60_000
   */
  idleTimeoutMs?: number | undefined;
}

/** Options of a `postgresInbox`, checked, with their defaults. */
export interface ResolvedOptions {
  readonly lockTimeoutMs: number;
  readonly acquireTimeoutMs: number;
  readonly commandTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly tables: QuotedTables;
}

const NAMES: OptionNames<PostgresInboxOptions> = {
  paymentsTable: true,
  eventsTable: true,
  lockTimeoutMs: true,
  acquireTimeoutMs: true,
  commandTimeoutMs: true,
  idleTimeoutMs: true,
};

/** @throws {InvalidOptionError} naming the option */
export function resolveOptions(options: PostgresInboxOptions): ResolvedOptions {
  assertOptionsObject('options', options, Object.keys(NAMES).join(', '));
  assertKnownOptions(options, NAMES);
  const {
    lockTimeoutMs = 5_000,
    acquireTimeoutMs = 5_000,
    commandTimeoutMs = 5_000,
    idleTimeoutMs = 60_000,
  } = options;
  const range = { min: 1, max: LONGEST_TIMER_MS, unit: 'milliseconds' };
  assertWholeNumber('lockTimeoutMs', lockTimeoutMs, range);
  assertWholeNumber('acquireTimeoutMs', acquireTimeoutMs, range);
  assertWholeNumber('commandTimeoutMs', commandTimeoutMs, range);
  assertWholeNumber('idleTimeoutMs', idleTimeoutMs, range);
  const tables = quoteTables(options);
  return Object.freeze({
    lockTimeoutMs,
    acquireTimeoutMs,
    commandTimeoutMs,
    idleTimeoutMs,
    tables,
  });
}
