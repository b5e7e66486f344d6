// One part of the package, named by MUTATION_PART.
import { readFileSync } from 'node:fs';
import { PARTS } from './parts.mjs';

const name = process.env.MUTATION_PART ?? '';
const part = PARTS[name];
if (!part) throw new Error(`MUTATION_PART must be one of ${Object.keys(PARTS).join(', ')}`);

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', new URL('sample.mjs', import.meta.url).pathname],
  checkers: process.env.MUTATION_SHARE ? ['sample'] : [],
  vitest: { configFile: 'test/mutation/vitest.config.mjs', related: false },
  mutate: part.mutate,
  coverageAnalysis: 'perTest',
  // A mutant that runs only at import needs a whole run of all tests: one mutant in twenty would take four
  // fifths of the time.
  ignoreStatic: true,
  concurrency: part.concurrency,
  // It keeps what each test of a database covers.
  testRunnerNodeArgs: ['--max-old-space-size=8192'],
  timeoutMS: 5_000,
  timeoutFactor: 2,
  // All tests of a database, with the coverage of each.
  dryRunTimeoutMinutes: 20,
  // Vitest does not check types.
  disableTypeChecks: false,
  // Tests that run beside it write and delete files that Git ignores: a copy of one that is gone by then fails. The
  // clients of Prisma, of the packages of the tests, are needed.
  ignorePatterns: [
    ...readFileSync('.gitignore', 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.includes('prisma')),
    'bench',
  ],
  // Not below node_modules, because Vitest would not watch modules there.
  tempDirName: `.stryker-tmp/${name}`,
  cleanTempDir: 'always',
  // A second run only tries mutants of what has changed since.
  incremental: !process.env.MUTATION_SHARE,
  incrementalFile: `reports/mutation/${name}.incremental.json`,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
};
