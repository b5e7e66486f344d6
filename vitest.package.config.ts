import { defineConfig } from 'vitest/config';

// Packs the built package and installs the tarball: slower than the rest, and it needs npm's registry.
export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
