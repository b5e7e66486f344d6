import { defineConfig } from 'vitest/config';

// `npm run test:services` runs vitest twice, on two versions of Node: CI counts both reports.
const reports = process.env['TEST_REPORTS'];
const report = `${reports}/services-${process.version}-${process.pid}.json`;

// Needs real servers: those that are there, or that are installed and started for the run.
export default defineConfig({
  test: {
    include: ['test/**/*.services.test.ts'],
    exclude: ['**/node_modules/**'],
    globalSetup: ['test/services/global-setup.ts'],
    // One file at a time: they work the servers, which share the machine with them.
    fileParallelism: false,
    reporters: reports ? ['default', ['json', { outputFile: report }]] : ['default'],
    restoreMocks: true,
    unstubEnvs: true,
    // Above the guard of the inbox contract, which says more.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
