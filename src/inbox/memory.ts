import {
  boolean,
  clock,
  type OptionRules,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { createMemoryWarning } from '../storage/memory-warning.js';
import { Attempt } from './attempt.js';
import {
  type FailureKeepingInbox,
  type InboxContext,
  type InboxEvent,
  type InboxOutcome,
  toEpochMicroseconds,
} from './inbox.js';
import { MemoryFailures } from './memory-failures.js';

/** Options of {@link memoryInbox}. */
export interface MemoryInboxOptions {
  /**
   * How many processed changes are remembered. Beyond it the payment that was longest without a change
   * is forgotten; a later delivery for it is processed again. A whole number from 1.
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

interface RememberedPayment {
  readonly keys: Set<string>;
  /** When the latest processed change happened, in epoch microseconds. */
  watermark: number;
  /** In epoch milliseconds. */
  changedAtMs: number;
}

/**
 * An inbox in this process's memory: for one process, for tests and for development. It is empty after a
 * restart and shared with no other process. In production it says so once, in a process warning
 * (`MERCHANT_PAYMENTS_MEMORY_INBOX`).
 *
 * While a change of a payment is being processed, every callback for that payment is `busy`. Of the
 * changes whose work failed the latest 1,000 are kept.
 *
 * @throws {InvalidOptionError} when an option is invalid
 */
export function memoryInbox(options: MemoryInboxOptions = {}): FailureKeepingInbox {
  const { maxEntries, retentionMs, keepBodies, now } = resolveOptions(options, rules);
  const failures = new MemoryFailures({ now, keepBodies });

  // In the order of their last change, the oldest first.
  const payments = new Map<string, RememberedPayment>();
  const running = new Set<string>();
  let entries = 0;

  const forgetOld = (): void => {
    const oldestMs = now() - retentionMs;
    failures.prune(oldestMs);
    for (const [reference, { keys, changedAtMs }] of payments) {
      const expired = changedAtMs <= oldestMs;
      if (entries <= maxEntries && !expired) return;
      if (payments.size > 1 || expired) {
        payments.delete(reference);
        entries -= keys.size;
      } else {
        // The payment that is left has more changes than fit; its watermark still knows them as stale.
        const [oldest] = keys;
        entries -= Number(keys.delete(oldest as string));
      }
    }
  };

  const remember = (reference: string, key: string, occurredAt: number): void => {
    const payment = payments.get(reference) ?? {
      keys: new Set(),
      watermark: occurredAt,
      changedAtMs: 0,
    };
    payment.keys.add(key);
    entries += 1;
    payment.watermark = Math.max(payment.watermark, occurredAt);
    payment.changedAtMs = now();
    // Put last, wherever it was.
    payments.delete(reference);
    payments.set(reference, payment);
    forgetOld();
  };

  const isOlder = (payment: RememberedPayment | undefined, occurredAt: number): boolean =>
    payment !== undefined && occurredAt < payment.watermark;

  const check = (event: InboxEvent, occurredAt: number): InboxOutcome | undefined => {
    forgetOld();
    const payment = payments.get(event.paymentReference);
    if (payment?.keys.has(event.key)) return 'duplicate';
    if (!event.processStale && isOlder(payment, occurredAt)) return 'stale';
    return running.has(event.paymentReference) ? 'busy' : undefined;
  };

  return {
    async process(event, work) {
      warnInProduction();
      const occurredAt = toEpochMicroseconds(event);
      const known = check(event, occurredAt);
      if (known !== undefined) return known;
      const isStale = isOlder(payments.get(event.paymentReference), occurredAt);
      // Copied: the caller's object may change while the work runs.
      const { key, paymentReference } = event;
      const change = { key, paymentReference, occurredAtUs: occurredAt };
      const attempt = new Attempt(event, async (failure) => failures.keep(change, failure));
      running.add(paymentReference);
      try {
        attempt.begin(failures.see(change));
        await work(new LazyContext(isStale));
        remember(paymentReference, key, occurredAt);
        failures.forget(change);
      } catch (error) {
        await attempt.failed(error);
        throw error;
      } finally {
        running.delete(paymentReference);
      }
      return 'processed';
    },
    failedChanges: (listed) => failures.failedChanges(listed),
    discard: (change) => failures.discard(change),
  };
}

// The signal is made when it is asked for: nothing here can abort it, and most handlers never look.
class LazyContext implements InboxContext<undefined> {
  readonly tx = undefined;
  readonly stale: boolean;
  #signal: AbortSignal | undefined;

  constructor(stale: boolean) {
    this.stale = stale;
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }
}

/** Warns once per process what a memory inbox does not do. */
export const warnInProduction = /* @__PURE__ */ createMemoryWarning(
  'MERCHANT_PAYMENTS_MEMORY_INBOX',
  'memoryInbox keeps what it knows in this process alone: after a restart, and on a second instance, callbacks are processed again. In production use redisInbox, postgresInbox, mysqlInbox or sqliteInbox.',
);
