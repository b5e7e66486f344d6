import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { PARTS } from './parts.mjs';

/** Runs cheap files first: the first test that detects a mutant ends its run. */
class CheapestFirst extends BaseSequencer {
  // From the first run, in which each file runs completely. For a mutant it runs only in part, or until it fails.
  static #durations;

  async sort(files) {
    const { cache, config } = this.ctx;
    const isFirst = CheapestFirst.#durations === undefined;
    CheapestFirst.#durations ??= new Map();
    if (isFirst) return files;
    const durationOf = ({ moduleId, project }) => {
      const key = `${project.name}:${path.relative(config.root, moduleId)}`;
      const durations = CheapestFirst.#durations;
      if (!durations.has(key)) durations.set(key, cache.getFileTestResults(key)?.duration ?? 0);
      return durations.get(key);
    };
    return [...files].sort((one, other) => durationOf(one) - durationOf(other));
  }
}

const part = PARTS[process.env.MUTATION_PART ?? ''];

// The tests that judge the mutants of one part, including those on real databases.
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: part?.tests ?? [],
    exclude: ['**/node_modules/**'],
    globalSetup: ['test/global-setup.ts', 'test/services/global-setup.ts'],
    setupFiles: ['test/mutation/short-properties.ts'],
    // A global selects the mutant, so the modules need not be loaded again for each file.
    isolate: false,
    runner: 'test/mutation/runner.mjs',
    sequence: { sequencer: CheapestFirst },
    restoreMocks: true,
    unstubEnvs: true,
    // A mutant that hangs fails at this limit, sooner than at Stryker's own, which also costs a new process.
    testTimeout: part?.testTimeoutMs ?? 5_000,
    hookTimeout: 20_000,
  },
});
