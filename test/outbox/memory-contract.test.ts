import { describe } from 'vitest';
import { Engine } from '../../src/outbox/engine.js';
import { MemoryStore } from '../../src/outbox/memory-store.js';
import { runContract } from './contract/run-contract.js';

describe('memoryOutbox', () => {
  // Of each case alone: what one loses, another does not.
  let nowMs = Date.now();
  const store = new MemoryStore({ maxEntries: 10_000, now: () => nowMs });
  runContract({
    create: ({ client }) => new Engine(store, { client, leaseMs: undefined }),
    loseLease() {
      nowMs += 60_000;
    },
  });
});
