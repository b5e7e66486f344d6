import { findPython } from './callback/oracle.js';
import { chooseSeed } from './property-runs.js';
import { type FuzzTarget, targets } from './targets.js';

// Fuzzing at full size: `node --import tsx test/fuzz/main.ts`. FUZZ_SEED repeats a run, FUZZ_CASES sets how many cases
// each target gets, FUZZ_TARGETS names those to run, by the beginnings of their names: verifiers,client.

const { FUZZ_CASES, FUZZ_TARGETS = '' } = process.env;
const seed = chooseSeed();
const python = findPython();
console.log(`Seed ${seed}; FUZZ_SEED=${seed} repeats this run. Node ${process.version}, ${python}`);

const wanted = FUZZ_TARGETS.split(',');
for (const target of targets) {
  if (wanted.some((start) => target.name.startsWith(start))) await runOne(target);
}

async function runOne({ name, cases, needsPython, run }: FuzzTarget): Promise<void> {
  if (needsPython && python === undefined) {
    console.log(`${name}: SKIPPED, no python3 was found`);
    if (process.env['CI'] === 'true') process.exitCode = 1;
    return;
  }
  const startedAt = performance.now();
  try {
    const result = await run({ seed, cases: Number(FUZZ_CASES ?? cases) });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const counts = Object.entries(result.counts).map(([what, count]) => `${what} ${count}`);
    console.log(`${name}: ${result.cases} cases, ${seconds} s (${counts.join(', ')})`);
  } catch (error) {
    // fast-check's message has the seed, the path and the smallest case that fails.
    console.error(`${name} FAILED with seed ${seed}:`, error);
    process.exitCode = 1;
  }
}
