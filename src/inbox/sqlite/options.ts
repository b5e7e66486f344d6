import { InvalidOptionError } from '../../errors.js';
import {
  assertFunction,
  assertKnownOptions,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../../protocol/assert-option.js';
import { describeValue } from '../../protocol/describe-value.js';

/** Options of `sqliteInbox`. */
export interface SqliteInboxOptions {
  /**
   * What the names of the two tables, `payments` and `events`, begin with: ASCII letters, digits
   * and underscores, no digit first, at most 64 characters, and not `sqlite_`.
   * @default 'payment_inbox_'
   */
  tablePrefix?: string | undefined;
  /**
   * How long a claim lives without being renewed, in milliseconds: how long a payment stays `busy`
   * after a process died over it. It is renewed while the work runs. A whole number from 100 to
   * 2_147_483_647.
   * @default 30_000
   */
  leaseMs?: number | undefined;
  /**
   * How long a claim is renewed at most, in milliseconds. Work that takes longer is taken for hung:
   * its signal aborts, and the claim runs out within `leaseMs`. A whole number from 1.
   * @default 600_000
   */
  renewForMs?: number | undefined;
  /**
   * The clock, in epoch milliseconds. Processes that share the file must share it.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

export type ResolvedSqliteInboxOptions = {
  readonly [Option in keyof SqliteInboxOptions]-?: NonNullable<SqliteInboxOptions[Option]>;
};

const NAMES: OptionNames<SqliteInboxOptions> = {
  tablePrefix: true,
  leaseMs: true,
  renewForMs: true,
  now: true,
};

/** @throws {InvalidOptionError} naming the option that can't be right */
export function resolveOptions(options: SqliteInboxOptions): ResolvedSqliteInboxOptions {
  assertOptionsObject('options', options, 'tablePrefix, leaseMs, renewForMs and now');
  assertKnownOptions(options, NAMES);
  const {
    tablePrefix = 'payment_inbox_',
    leaseMs = 30_000,
    renewForMs = 600_000,
    // Looked up at each call, so that a clock that is faked later counts.
    now = () => Date.now(),
  } = options;
  assertTablePrefix(tablePrefix);
  const milliseconds = { min: 100, max: LONGEST_TIMER_MS, unit: 'milliseconds' };
  assertWholeNumber('leaseMs', leaseMs, milliseconds);
  assertWholeNumber('renewForMs', renewForMs, { min: 1, unit: 'milliseconds' });
  assertFunction('now', now, 'that returns epoch milliseconds');
  return Object.freeze({ tablePrefix, leaseMs, renewForMs, now });
}

const PLAIN_IDENTIFIER = /^(?!sqlite_)[a-z_][a-z0-9_]{0,63}$/i;

function assertTablePrefix(value: unknown): asserts value is string {
  if (typeof value === 'string' && PLAIN_IDENTIFIER.test(value)) return;
  throw new InvalidOptionError(
    'tablePrefix',
    `tablePrefix must be 1 to 64 ASCII letters, digits and underscores, with no digit first and not beginning with sqlite_, but ${describeValue(value)} came`,
  );
}
