import { InvalidOptionError } from '../../errors.js';
import {
  assertKnownOptions,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../../protocol/assert-option.js';
import { describeValue } from '../../protocol/describe-value.js';

/** Options of `redisInbox`. */
export interface RedisInboxOptions {
  /**
   * What the name of every key begins with. No braces: they would decide the slot in a cluster.
   * @default 'merchant-payments:'
   */
  prefix?: string | undefined;
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
   * How long a payment is remembered after its last change, in milliseconds. A callback that comes
   * again later is processed again. A whole number from 1.
   * @default 2_592_000_000 (30 days)
   */
  retentionMs?: number | undefined;
  /**
   * How long Redis may take to answer, in milliseconds. Both clients keep commands while they
   * reconnect, for minutes or for ever. A whole number from 1 to 2_147_483_647, below `leaseMs`.
   * @default 5_000, or half of leaseMs when that is less
   */
  commandTimeoutMs?: number | undefined;
}

export type ResolvedRedisInboxOptions = {
  readonly [Option in keyof RedisInboxOptions]-?: NonNullable<RedisInboxOptions[Option]>;
};

const NAMES: OptionNames<RedisInboxOptions> = {
  prefix: true,
  leaseMs: true,
  renewForMs: true,
  retentionMs: true,
  commandTimeoutMs: true,
};

/** @throws {InvalidOptionError} naming the option that can't be right */
export function resolveOptions(options: RedisInboxOptions): ResolvedRedisInboxOptions {
  assertOptionsObject(
    'options',
    options,
    'prefix, leaseMs, renewForMs, retentionMs and commandTimeoutMs',
  );
  assertKnownOptions(options, NAMES);
  const {
    prefix = 'merchant-payments:',
    leaseMs = 30_000,
    renewForMs = 600_000,
    retentionMs = 2_592_000_000,
  } = options;
  assertPrefix(prefix);
  const unit = 'milliseconds';
  assertWholeNumber('leaseMs', leaseMs, { min: 100, max: LONGEST_TIMER_MS, unit });
  const { commandTimeoutMs = Math.min(5_000, Math.floor(leaseMs / 2)) } = options;
  assertWholeNumber('renewForMs', renewForMs, { min: 1, unit });
  assertWholeNumber('retentionMs', retentionMs, { min: 1, unit });
  assertWholeNumber('commandTimeoutMs', commandTimeoutMs, { min: 1, max: LONGEST_TIMER_MS, unit });
  assertShorterThanLease(commandTimeoutMs, leaseMs);
  return Object.freeze({ prefix, leaseMs, renewForMs, retentionMs, commandTimeoutMs });
}

// An answer that is waited for as long as the lease lives comes when others may claim.
function assertShorterThanLease(commandTimeoutMs: number, leaseMs: number): void {
  if (commandTimeoutMs < leaseMs) return;
  throw new InvalidOptionError(
    'commandTimeoutMs',
    `commandTimeoutMs must be less than leaseMs (${leaseMs}), but ${commandTimeoutMs} came: lower it, to half of leaseMs or less, or raise leaseMs`,
  );
}

function assertPrefix(prefix: unknown): asserts prefix is string {
  if (typeof prefix === 'string' && !/[{}]/.test(prefix)) return;
  const came = typeof prefix === 'string' ? 'one with braces' : describeValue(prefix);
  throw new InvalidOptionError('prefix', `prefix must be text without braces, but ${came} came`);
}
