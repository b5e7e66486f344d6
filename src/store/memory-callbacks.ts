import type { ManagedStore } from './callback-store.js';
import { ManagedEngine } from './managed-engine.js';
import { MemoryBackend } from './memory-backend.js';

/** The store of a receiver that was given none: `memoryStore()`, without what creates payments. */
export function memoryCallbacks(): ManagedStore {
  const keepBodies = false;
  const limits = { maxEntries: 100_000, retentionMs: 86_400_000, keepBodies, now: Date.now };
  return new ManagedEngine(new MemoryBackend(limits), { keepBodies });
}
