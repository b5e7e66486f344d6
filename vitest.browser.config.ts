import { defineConfig } from 'vitest/config';

// The dashboard in a real browser: one that is installed, or none and a line that says so.
export default defineConfig({
  test: {
    include: ['test/**/*.browser.test.ts'],
    globalSetup: ['test/mock-server/dashboard/global-setup.ts'],
    // A browser is many processes already.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
