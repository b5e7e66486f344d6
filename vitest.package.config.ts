import { defineConfig } from 'vitest/config';

// Packs the built package and installs the tarball: slower than the rest, and it needs npm's registry.
// The command line's own tests run here once more, on what was installed.
export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts', 'test/cli/**/*.test.ts'],
    globalSetup: ['test/package/global-setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
