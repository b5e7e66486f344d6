import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/package/**'],
    restoreMocks: true,
    unstubEnvs: true,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // Only re-exports and types.
      exclude: ['src/**/index.ts', 'src/client/transport/transport.ts'],
      reporter: ['text', 'html', 'json-summary'],
      thresholds: {
        branches: 95,
        functions: 95,
        lines: 95,
        'src/callback/**': { branches: 100 },
        'src/client/**': { branches: 100 },
      },
    },
  },
});
