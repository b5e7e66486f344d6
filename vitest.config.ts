import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Each file in its own process: Node's fetch takes the dispatcher of the undici that is loaded first, and
// Hono's adapter for Node replaces the global Request and Response.
const alone = [
  'test/client/transport/**/*.test.ts',
  'test/fetch/hono.test.ts',
  'test/examples/frameworks.test.ts',
  'test/types/adapters.test.ts',
];

// Vitest begins with the largest files. These take longest, for they wait: begun last, they would be waited for.
const longest =
  /\/(?:endpoint-check\/(?:wrong-handlers|timing|right-handlers)|secrets\/(?:exports|processes)|cli\/check|fuzz\/targets|examples\/frameworks|docs\/snippets)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => longest.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

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
    // A guard against hanging, not a measure: other suites may run on the same machine. Only files that take longer set
    // another.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Many tests wait, for a process or a socket, rather than compute.
    maxWorkers: Math.max(6, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      // `npm test`, with the next one. The files of a worker share their modules, which takes half the time.
      {
        extends: true,
        test: {
          name: 'sources',
          include: ['test/**/*.test.ts'],
          exclude: [
            '**/node_modules/**',
            '**/*.{services,browser}.test.ts',
            'test/package/**',
            'test/release/**',
            ...alone,
          ],
          globalSetup: ['test/global-setup.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: alone, globalSetup: ['test/global-setup.ts'] },
      },
      // Real servers: those that are there, or that are installed and started for the run.
      {
        extends: true,
        test: {
          name: 'services',
          include: ['test/**/*.services.test.ts'],
          globalSetup: ['test/global-setup.ts', 'test/services/global-setup.ts'],
          // They work the servers, which share the machine with them.
          fileParallelism: false,
          // Drivers and ORMs take longer to load than many a file takes to run.
          isolate: false,
          setupFiles: ['test/between-files.ts'],
        },
      },
      // The dashboard, the site and the shop in a real browser: one that is installed, or none and a line that says so.
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/**/*.browser.test.ts'],
          globalSetup: ['test/global-setup.ts', 'test/browser/global-setup.ts'],
          // A browser is many processes already.
          fileParallelism: false,
          isolate: false,
          setupFiles: ['test/between-files.ts'],
          testTimeout: 180_000,
        },
      },
      // Packs the built package and installs the tarball, and runs what a release runs: slower, and they need npm.
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/{package,release}/**/*.test.ts'],
          globalSetup: ['test/package/global-setup.ts'],
          testTimeout: 180_000,
          // They install the tarball several times, beside the two other lanes of CI.
          hookTimeout: 600_000,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: [
        // Only re-exports and types.
        'src/**/index.ts',
        'src/client/transport/transport.ts',
        // Run on real servers and drivers, by `npm run test:services`.
        'src/inbox/mysql/**',
        'src/storage/mysql/**',
        'src/inbox/redis/**',
        'src/inbox/sqlite/**',
        'src/outbox/{mysql,sqlite}/**',
        'src/storage/sqlite/**',
        'src/storage/providers/**',
        'src/storage/postgres/{provided-*,runner}.ts',
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
