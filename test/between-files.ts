import { afterAll, vi } from 'vitest';

// Files that share a process: what the last test of one has put in place is gone before the next is read. Vitest takes
// it away before each test, so that hooks and the top of a file would still see it.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
