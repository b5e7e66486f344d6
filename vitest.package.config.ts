import { defineConfig } from 'vitest/config';

// Packs the built package and installs the tarball: slower than the rest, and it needs npm's registry.
// What the command line does as a process is tested here once more, on what was installed.
export default defineConfig({
  test: {
    include: [
      'test/package/**/*.test.ts',
      'test/cli/{command-line,mock,payments,callback-send,check}.test.ts',
    ],
    globalSetup: ['test/package/global-setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
