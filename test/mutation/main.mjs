// Mutation testing: node test/mutation/main.mjs [part…] [--share 0.2] [--seed text]
//
// Every mutant is a copy of the code with one change, which a test should detect. The command prints those that the
// tests miss, and fails if they detect less than 95% of a part's mutants. With --share, only so many of them are tried:
// which ones depends on --seed, by default the date.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { PARTS } from './parts.mjs';
import { readReport } from './report.mjs';

const LEAST_SCORE = 95;

const { values, positionals } = parseArgs({
  options: {
    share: { type: 'string' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10) },
  },
  allowPositionals: true,
});

const share = Number(values.share ?? 1);
if (!(share > 0 && share <= 1)) {
  throw new Error(`--share must be a number above 0 and at most 1; received ${values.share}`);
}

process.exitCode = runParts(positionals);

function runParts(names) {
  const unknown = names.find((name) => !PARTS[name]);
  if (unknown)
    throw new Error(`No part "${unknown}": choose from ${Object.keys(PARTS).join(', ')}`);
  const results = (names.length > 0 ? names : Object.keys(PARTS)).map((name) => mutate(name));
  print(results);
  // If a part has no mutants, its patterns match nothing.
  const good = results.every(({ mutants, score }) => mutants > 0 && score >= LEAST_SCORE);
  return good ? 0 : 1;
}

function mutate(name) {
  const file = `reports/mutation/${name}.json`;
  rmSync(file, { force: true });
  const { status } = spawnSync(
    process.execPath,
    [
      'test/mutation/node_modules/@stryker-mutator/core/bin/stryker.js',
      'run',
      'test/mutation/stryker.config.mjs',
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        MUTATION_PART: name,
        ...(values.share && { MUTATION_SHARE: values.share, MUTATION_SEED: values.seed }),
      },
    },
  );
  if (status !== 0) {
    // The other parts are still tried.
    console.error(`Stryker could not mutate ${name}: exit code ${status}`);
    return { name, mutants: 0, detected: 0, survivors: [], score: 0 };
  }
  const { detected, survivors } = readReport(JSON.parse(readFileSync(file, 'utf8')));
  const mutants = detected + survivors.length;
  return {
    name,
    mutants,
    detected,
    survivors,
    score: mutants === 0 ? 100 : (100 * detected) / mutants,
  };
}

function print(results) {
  for (const { survivors } of results) {
    for (const { file, line, code, to } of survivors) {
      console.log(`${file}:${line}\n  ${code}\n  became ${to}`);
    }
  }
  console.table(
    results.map(({ name, mutants, detected, survivors, score }) => ({
      part: name,
      mutants,
      detected,
      score: `${score.toFixed(1)}%`,
      survived: survivors.length,
    })),
  );
  if (values.share)
    console.log(`A share of ${values.share} of the mutants, by the seed ${values.seed}`);
  console.log(`${new Date().toISOString().slice(0, 10)}, Node ${process.version}`);
}
