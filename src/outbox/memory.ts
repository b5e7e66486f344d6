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
   * How many payments are kept. Beyond it the `created` or `rejected` one that was longest without a change
   * is forgotten; one that is neither never is. A whole number from 1.
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
 * An outbox in this process's memory: for one process, for tests and for development. It is empty after a
 * restart and shared with no other process. In production it says so once, in a process warning
 * (`MERCHANT_PAYMENTS_MEMORY_OUTBOX`). `record` takes any `tx` and is in none.
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
