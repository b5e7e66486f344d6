import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { PARTS } from './parts.mjs';

/** The cheap tests first: a mutant is done with at the first test that notices it. */
class CheapestFirst extends BaseSequencer {
  async sort(files) {
    return (await super.sort(files)).reverse();
  }
}

// The tests that judge the mutants of one part, those on real databases with them.
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: PARTS[process.env.MUTATION_PART ?? '']?.tests ?? [],
    // What is built, and the examples that use it, are not mutated.
    exclude: [
      '**/node_modules/**',
      'test/callback/module-graph.test.ts',
      'test/inbox/postgres/orms/guide.services.test.ts',
    ],
    globalSetup: ['test/services/global-setup.ts'],
    setupFiles: ['test/mutation/short-properties.ts'],
    // A mutant is chosen by a global, so the modules need not be loaded anew for each file.
    isolate: false,
    sequence: { sequencer: CheapestFirst },
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
