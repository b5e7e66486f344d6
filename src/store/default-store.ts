import type { ManagedStore } from './callback-store.js';
import { ManagedEngine } from './managed-engine.js';
import { MemoryCallbacks } from './memory-callbacks.js';

/** The store of a receiver that was given none: `memoryStore()`, without what creates payments. */
export function memoryCallbacks(): ManagedStore {
  const limits = { maxEntries: 100_000, now: Date.now };
  // It has no payments that it has sent.
  return new ManagedEngine(new MemoryCallbacks(limits), { requestLifetimeMs: 0 });
}
