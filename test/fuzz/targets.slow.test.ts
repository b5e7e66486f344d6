import { expect, it } from 'vitest';
import { findPython } from './callback/oracle.js';
import { chooseSeed } from './property-runs.js';
import { targets } from './targets.js';

// The full size is that of main.ts.
const seed = chooseSeed();
console.log(`Fuzzing with seed ${seed}; FUZZ_SEED=${seed} repeats it.`);

const python = findPython();
if (python === undefined) {
  console.log('No python3 was found: what is compared with Python is skipped.');
}

it.for(targets)('holds for any $name', async ({ needsPython, quickCases, run }, { skip }) => {
  if (needsPython && python === undefined) skip();
  const { cases, counts } = await run({ cases: quickCases, seed });
  expect(cases).toBeGreaterThanOrEqual(quickCases);
  // Cases of one kind only would prove nothing.
  expect(Object.keys(counts).length).toBeGreaterThan(1);
});
