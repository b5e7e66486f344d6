import {
  clock,
  type OptionRules,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { Engine } from './engine.js';
import { MemoryStore } from './memory-store.js';
import { logOperations } from './operation-log.js';
import { logRules, type OutboxOptions, outboxRules } from './options.js';
import type { PaymentOutbox } from './outbox.js';

/** Options of {@link memoryOutbox}. */
export interface MemoryOutboxOptions extends OutboxOptions {
  /**
   * How many payments are kept. Beyond that, the `created` or `rejected` payment with the oldest last change
   * is forgotten; other payments never are. A whole number from 1.
   * @default 100_000
   */
  maxEntries?: number | undefined;
  /**
   * The clock, in epoch milliseconds.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

const rules = {
  ...outboxRules,
  ...logRules,
  maxEntries: withDefault(100_000, wholeNumber({ min: 1, unit: 'payments' })),
  now: clock,
} satisfies OptionRules<MemoryOutboxOptions>;

/**
 * An outbox in this process's memory: for a single process, for tests and for development. It is empty after a
 * restart and not shared with other processes. In production it warns about this once, with a process warning
 * (`MERCHANT_PAYMENTS_MEMORY_OUTBOX`). `record` accepts any `tx` and ignores it.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { PaymentClient } from 'merchant-payments';
 * import { memoryOutbox } from 'merchant-payments/outbox';
 *
 * const outbox = memoryOutbox({ client: PaymentClient.fromEnv() });
 * const { state, payment } = await outbox.create({
 *   merchantPaymentReference: 'order-1001',
 *   amount: 2500,
 *   currency: 'EUR',
 * });
 * console.log(state, payment?.referenceNumber);
 * ```
 */
export function memoryOutbox(options: MemoryOutboxOptions): PaymentOutbox {
  const { client, leaseMs, logger, logReferences, maxEntries, now } = resolveOptions(
    options,
    rules,
    { holds: 'client' },
  );
  const engine = new Engine(new MemoryStore({ maxEntries, now }), { client, leaseMs });
  logOperations(engine, { logger, logReferences });
  return engine;
}
