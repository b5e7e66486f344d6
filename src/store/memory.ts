import {
  clock,
  type OptionRules,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import type { CallbackStore } from './callback-store.js';
import { MemoryBackend } from './memory-backend.js';
import { type StoreOptions, storeRules } from './options.js';
import { createStore } from './payment-engine.js';
import type { PaymentStore } from './payment-store.js';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions extends StoreOptions {
  /**
   * How many payments are kept, with their processed changes: one for each `merchantPaymentReference`. Beyond that, the
   * orders with the oldest last change are forgotten, except those with a payment that is `recorded`, `sending` or
   * `unresolved`, a failed change or a second payment. A whole number from 1.
   * @default 100_000
   */
  maxEntries?: number | undefined;
  /**
   * The clock, in epoch milliseconds.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

type WithClient = MemoryStoreOptions & { readonly client: NonNullable<StoreOptions['client']> };

const rules = {
  ...storeRules,
  maxEntries: withDefault(100_000, wholeNumber({ min: 1, unit: 'entries' })),
  now: clock,
} satisfies OptionRules<MemoryStoreOptions>;

/**
 * A store in this process's memory: for a single process, for tests and for development. It is empty after a
 * restart and not shared with other processes. In production it warns about this once, with a process warning
 * (`MERCHANT_PAYMENTS_MEMORY_STORE`). `record` ignores its `tx`.
 *
 * While a change of an order is being processed, every callback for that order is `busy`. The store keeps
 * the latest 1,000 changes whose work failed.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { PaymentClient } from 'merchant-payments';
 * import { memoryStore } from 'merchant-payments/store';
 *
 * const store = memoryStore({ client: PaymentClient.fromEnv() });
 * const stored = await store.create({
 *   merchantPaymentReference: 'order-1001',
 *   amount: 2500,
 *   currency: 'EUR',
 * });
 * if (stored.state === 'created') console.log(stored.payment?.referenceNumber);
 * ```
 */
export function memoryStore(options: WithClient): PaymentStore;
/**
 * The same store for callbacks alone.
 *
 * @throws {InvalidOptionError} when an option is invalid
 */
export function memoryStore(options?: MemoryStoreOptions): Required<CallbackStore>;
export function memoryStore(options: MemoryStoreOptions = {}): Required<CallbackStore> {
  const resolved = resolveOptions(options, rules);
  return createStore(new MemoryBackend(resolved), resolved);
}
