import { resolveOptions } from '../../src/protocol/options.js';
import { memoryStore } from '../../src/store/memory.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import { storeRules } from '../../src/store/options.js';
import { createStore } from '../../src/store/payment-engine.js';
import { describeCallbackStore, describeStore } from './store.js';

describeCallbackStore('memoryStore', () => {
  const store = memoryStore();
  return { create: () => store, waitMs: 0 };
});

describeStore('several stores in one memory', () => {
  let nowMs = Date.now();
  const backend = new MemoryBackend({
    maxEntries: 10_000,
    now: () => nowMs,
  });
  return {
    create: (options) => createStore(backend, resolveOptions(options, storeRules)),
    waitMs: 0,
    letPass(_reference, ms) {
      nowMs += ms;
    },
  };
});
