import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/package/**',
      '**/*.services.test.ts',
      '**/*.browser.test.ts',
      '**/node_modules/**',
    ],
    // A guard against hanging, not a measure: other suites may run on the same machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: [
        // Only re-exports and types.
        'src/**/index.ts',
        'src/client/transport/transport.ts',
        // Run on real servers and drivers, by `npm run test:services`.
        'src/inbox/redis/**',
        'src/inbox/sqlite/**',
        // Run as a process, and in a browser, by `npm run test:browser`.
        'src/cli/**',
        'src/mock-server/dashboard/**',
      ],
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
