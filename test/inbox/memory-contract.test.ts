import { describe } from 'vitest';
import { memoryInbox } from '../../src/inbox/memory.js';
import { runContract } from './contract/run-contract.js';

describe('a memory inbox', () => {
  const inbox = memoryInbox({ keepBodies: true });
  runContract({ create: () => inbox, waitMs: 0, keepsFailures: true, keepsBodies: true });
});
