import type { Backend } from './backend.js';
import type { ManagedStore } from './callback-store.js';
import { ManagedEngine } from './managed-engine.js';
import type { ResolvedStoreOptions } from './options.js';
import { PaymentEngine } from './payment-engine.js';
import type { PaymentStore } from './payment-store.js';

/** The store over a backend: a {@link PaymentStore} if there is a client. */
export function createStore<Tx>(
  backend: Backend<Tx>,
  options: ResolvedStoreOptions,
): ManagedStore<Tx> | PaymentStore<Tx> {
  const { client } = options;
  if (client === undefined) return new ManagedEngine(backend, options);
  return new PaymentEngine(backend, { ...options, client });
}
