import {
  boolean,
  clock,
  type OptionRules,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { Loss } from './loss.js';
import { createMemoryWarning } from './memory-warning.js';
import { Attempt } from './attempt.js';
import {
  assertNamed,
  type FailureKeepingInbox,
  type InboxEvent,
  type InboxOutcome,
  toEpochMicroseconds,
} from './inbox.js';
import { MemoryFailures } from './memory-failures.js';
import { MemoryPayments } from './memory-payments.js';
import { WorkContext } from './work-context.js';

/** Options of {@link memoryInbox}. */
export interface MemoryInboxOptions {
  /**
   * How many processed changes are remembered. Beyond that, the payment with the oldest last change
   * is forgotten, and a later delivery for it is processed again. A whole number from 1.
   * @default 100_000
   */
  maxEntries?: number | undefined;
  /**
   * How long a payment is remembered after its last processed change, and a failed change after its last
   * failure, in milliseconds. A whole number from 1.
   * @default 86_400_000 (one day)
   */
  retentionMs?: number | undefined;
  /**
   * Whether the body of a failed change is kept with it, so that it can be replayed.
   * @default false
   */
  keepBodies?: boolean | undefined;
  /**
   * The clock, in epoch milliseconds.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

const rules = {
  maxEntries: withDefault(100_000, wholeNumber({ min: 1, unit: 'entries' })),
  retentionMs: withDefault(86_400_000, wholeNumber({ min: 1, unit: 'milliseconds' })),
  keepBodies: withDefault(false, boolean),
  now: clock,
} satisfies OptionRules<MemoryInboxOptions>;

/**
 * An inbox in this process's memory: for a single process, for tests and for development. It is empty after a
 * restart and not shared with other processes. In production it warns about this once, with a process warning
 * (`MERCHANT_PAYMENTS_MEMORY_INBOX`).
 *
 * While a change of a payment is being processed, every callback for that payment is `busy`. The inbox keeps
 * the latest 1,000 changes whose work failed.
 *
 * @throws {InvalidOptionError} when an option is invalid
 */
export function memoryInbox(options: MemoryInboxOptions = {}): FailureKeepingInbox {
  const { maxEntries, retentionMs, keepBodies, now } = resolveOptions(options, rules);
  const failures = new MemoryFailures({ now, keepBodies });

  const payments = new MemoryPayments({ maxEntries });
  const running = new Set<string>();

  const forgetOld = (nowMs: number): void => {
    const oldestMs = nowMs - retentionMs;
    failures.prune(oldestMs);
    payments.forget(oldestMs);
  };

  const check = (
    { key, paymentReference, processStale }: InboxEvent,
    isStale: boolean,
  ): InboxOutcome | undefined => {
    if (payments.has(paymentReference, key)) return 'duplicate';
    if (!processStale && isStale) return 'stale';
    return running.has(paymentReference) ? 'busy' : undefined;
  };

  return {
    async process(event, work) {
      warnInProduction();
      assertNamed(event);
      const occurredAtUs = toEpochMicroseconds(event);
      forgetOld(now());
      // Copied: the caller's object may change while the work runs.
      const { key, paymentReference } = event;
      const isStale = payments.isOlder(paymentReference, occurredAtUs);
      const known = check(event, isStale);
      if (known !== undefined) return known;
      const change = { key, paymentReference, occurredAtUs };
      const attempt = new Attempt(event, async (failure) => failures.keep(change, failure));
      running.add(paymentReference);
      try {
        attempt.begin(failures.see(change));
        // Memory can't be lost, so this signal never aborts.
        await work(new WorkContext(undefined, isStale, new Loss()));
        const nowMs = now();
        payments.remember(change, nowMs);
        forgetOld(nowMs);
        failures.forget(change);
      } catch (error) {
        await attempt.failed(error);
        throw error;
      } finally {
        running.delete(paymentReference);
      }
      return 'processed';
    },
    keepsBodies: keepBodies,
    failedChanges: (listed) => failures.failedChanges(listed),
    discard: (change) => failures.discard(change),
  };
}

/** Warns once per process about what a memory inbox does not do. */
export const warnInProduction = /* @__PURE__ */ createMemoryWarning(
  'MERCHANT_PAYMENTS_MEMORY_INBOX',
  'memoryInbox keeps its events only in this process: after a restart, and on a second instance, callbacks are processed again. In production use redisInbox, postgresInbox, mysqlInbox or sqliteInbox.',
);
