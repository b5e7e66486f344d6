import { memoryInbox } from '../../src/store/memory-inbox.js';
import { Engine } from '../../src/store/engine.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { describeInboxContract } from './inbox.js';
import { describeOutboxContract } from './outbox.js';

describeInboxContract('memoryInbox', () => {
  const inbox = memoryInbox({ keepBodies: true });
  return { create: () => inbox, waitMs: 0, keepsFailures: true, keepsBodies: true };
});

describeOutboxContract('memoryOutbox', () => {
  // Of each case alone: what one loses, another does not.
  let nowMs = Date.now();
  const store = new MemoryStore({ maxEntries: 10_000, now: () => nowMs });
  return {
    create: (client) => new Engine(store, { client, leaseMs: undefined }),
    loseLease() {
      nowMs += 60_000;
    },
  };
});
