import { InvalidOptionError } from '../../errors.js';
import { assertOptionsObject, assertWholeNumber } from '../../protocol/assert-option.js';
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
   * How long a payment is remembered after its last change, in milliseconds. A callback that comes
   * again later is processed again. A whole number from 1.
   * @default 2_592_000_000 (30 days)
   */
  retentionMs?: number | undefined;
  /**
   * How long Redis may take to answer, in milliseconds. Both clients keep commands while they
   * reconnect, for minutes or for ever. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  commandTimeoutMs?: number | undefined;
}

export type ResolvedRedisInboxOptions = {
  readonly [Option in keyof RedisInboxOptions]-?: NonNullable<RedisInboxOptions[Option]>;
};

const LONGEST_TIMER_MS = 2_147_483_647;

/** @throws {InvalidOptionError} naming the option that can't be right */
export function resolveOptions(options: RedisInboxOptions): ResolvedRedisInboxOptions {
  assertOptionsObject('options', options, 'prefix, leaseMs, retentionMs and commandTimeoutMs');
  const {
    prefix = 'merchant-payments:',
    leaseMs = 30_000,
    retentionMs = 2_592_000_000,
    commandTimeoutMs = 5_000,
  } = options;
  assertPrefix(prefix);
  const unit = 'milliseconds';
  assertWholeNumber('leaseMs', leaseMs, { min: 100, max: LONGEST_TIMER_MS, unit });
  assertWholeNumber('retentionMs', retentionMs, { min: 1, unit });
  assertWholeNumber('commandTimeoutMs', commandTimeoutMs, { min: 1, max: LONGEST_TIMER_MS, unit });
  return Object.freeze({ prefix, leaseMs, retentionMs, commandTimeoutMs });
}

function assertPrefix(prefix: unknown): asserts prefix is string {
  if (typeof prefix === 'string' && !/[{}]/.test(prefix)) return;
  const came = typeof prefix === 'string' ? 'one with braces' : describeValue(prefix);
  throw new InvalidOptionError('prefix', `prefix must be text without braces, but ${came} came`);
}
