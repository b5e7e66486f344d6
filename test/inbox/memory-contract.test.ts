import { describe } from 'vitest';
import { memoryInbox } from '../../src/inbox/memory.js';
import { runContract } from './contract/run-contract.js';

describe('a memory inbox', () => {
  const inbox = memoryInbox();
  runContract({ create: () => inbox, waitMs: 0 });
});
