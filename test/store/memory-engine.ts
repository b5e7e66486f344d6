import { resolveOptions } from '../../src/protocol/options.js';
import type { Backend } from '../../src/store/backend.js';
import { type StoreOptions, storeRules } from '../../src/store/options.js';
import { createStore } from '../../src/store/payment-engine.js';
import type { PaymentStore } from '../../src/store/payment-store.js';

/** The options of a MemoryBackend. */
export const MEMORY = {
  now: (): number => Date.now(),
  maxEntries: 1_000,
};

/** A store over a backend, as another process would open it. */
export function openStore(
  backend: Backend<undefined>,
  options: StoreOptions & { readonly client: NonNullable<StoreOptions['client']> },
): PaymentStore<undefined> {
  return createStore(backend, resolveOptions(options, storeRules)) as PaymentStore<undefined>;
}
