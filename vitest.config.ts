import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

// What CI sets, since the commands that it runs are those of the README: the folder for reports, and whether to measure
// coverage.
const { TEST_REPORTS, TEST_COVERAGE } = process.env;
const report = path.join(TEST_REPORTS ?? '', `${Date.now()}-${process.pid}.json`);

export default defineConfig({
  // The package by its name is the sources, as in tsconfig.json.
  resolve: {
    alias: [
      // As in the guide on ORMs, where they stand for the reader's own client.
      { find: /^@\/prisma$/, replacement: path.resolve('test/services/prisma/client.ts') },
      {
        find: /^@\/generated\/prisma\/client$/,
        replacement: path.resolve('test/services/prisma/mysql/generated/client.ts'),
      },
      { find: /^merchant-payments$/, replacement: path.resolve('src/index.ts') },
      { find: /^merchant-payments\/([\w/-]+)$/, replacement: path.resolve('src', '$1/index.ts') },
    ],
  },
  test: {
    // A guard against hanging, not a measure: other suites may run on the same machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Some tests wait, so that there may be more files at a time than cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    restoreMocks: true,
    unstubEnvs: true,
    // The files of a worker share their modules, which takes half the time.
    isolate: false,
    setupFiles: ['test/between-files.ts'],
    reporters: TEST_REPORTS ? ['default', ['json', { outputFile: report }]] : ['default'],
    projects: [
      // `npm test`.
      {
        extends: true,
        test: {
          name: 'logic',
          include: ['test/**/*.test.ts'],
          exclude: [
            '**/node_modules/**',
            '**/*.{slow,services,browser,guide}.test.ts',
            'test/{package,release}/**',
          ],
          globalSetup: ['test/global-setup.ts'],
        },
      },
      // What compiles, starts many processes, walks everything, or changes its own process.
      {
        extends: true,
        test: {
          name: 'slow',
          include: ['test/**/*.slow.test.ts'],
          globalSetup: ['test/global-setup.ts'],
          isolate: true,
          testTimeout: 600_000,
        },
      },
      // Real servers: those that are there, or that are installed and started for the run.
      {
        extends: true,
        test: {
          name: 'services',
          include: ['test/**/*.services.test.ts'],
          globalSetup: ['test/global-setup.ts', 'test/services/global-setup.ts'],
          fileParallelism: false,
        },
      },
      // The dashboard, the site and the shop in a real browser: one that is installed, or none and a line that says so.
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/**/*.browser.test.ts'],
          globalSetup: ['test/global-setup.ts', 'test/browser/global-setup.ts'],
          fileParallelism: false,
          testTimeout: 180_000,
        },
      },
      // The tarball, installed from npm's registry, and what a release runs.
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/{package,release}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/*.guide.test.ts'],
          globalSetup: ['test/package/global-setup.ts'],
          isolate: true,
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
      // The guides, the skill and the recipes, each followed to the letter with the tarball.
      {
        extends: true,
        test: {
          name: 'guides',
          include: ['test/**/*.guide.test.ts'],
          globalSetup: [
            'test/global-setup.ts',
            'test/services/global-setup.ts',
            'test/package/global-setup.ts',
          ],
          fileParallelism: false,
          isolate: true,
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
    ],
    coverage: {
      enabled: TEST_COVERAGE === 'true',
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: [
        'src/**/index.ts',
        // Run as a process.
        'src/cli/main.ts',
        // Run on real servers and drivers, by `npm run test:services`.
        'src/{mysql,redis,sqlite}/**',
        'src/store/providers/**',
        'src/postgres/pool-connections.ts',
        'src/store/loss.ts',
        // Run in a browser, by `npm run test:browser`.
        'src/mock-server/dashboard/**',
      ],
      reporter: [['text', { skipFull: true }], 'html'],
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
