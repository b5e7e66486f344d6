import { describe, expect, it } from 'vitest';
import { findPython } from './callback/oracle.js';
import { chooseSeed } from './property-runs.js';
import { fuzzStore } from './store/histories.js';
import { inMemory, openPgliteStore } from './store/process-stores.js';
import { targets } from './targets.js';

// The full size is that of main.ts.
const seed = chooseSeed();
console.log(`Fuzzing with seed ${seed}; FUZZ_SEED=${seed} repeats it.`);

const python = findPython();
if (python === undefined) {
  console.log('No python3 was found: what is compared with Python is skipped.');
}

// A guard against what hangs; far above what any target takes.
const TIMEOUT_MS = 600_000;

describe('any input', () => {
  it.for(targets)(
    'leaves $name as it is promised to be',
    { timeout: TIMEOUT_MS },
    async ({ needsPython, quickCases, run }, { skip }) => {
      if (needsPython && python === undefined) skip();
      const { cases, counts } = await run({ cases: quickCases, seed });
      expect(cases).toBeGreaterThanOrEqual(quickCases);
      // Cases of one kind only would prove nothing.
      expect(Object.keys(counts).length).toBeGreaterThan(1);
    },
  );
});

describe('any history of deliveries', () => {
  it(
    'has the outcome of the model in memory',
    () => fuzzStore(inMemory, { cases: 300, seed }),
    TIMEOUT_MS,
  );

  it(
    'has the outcome of the model in PGlite',
    async () => fuzzStore(await openPgliteStore(), { cases: 10, seed }),
    TIMEOUT_MS,
  );
});
