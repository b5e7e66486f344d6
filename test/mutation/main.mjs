// Mutation testing: npm run test:mutation [-- part…] [-- --changed [commit]]
//
// Every mutant is a copy of the code with one change, which a test should detect. The command fails if the
// tests detect less than 95% of a part's mutants, or if a mutant that they miss is not explained in
// explained-survivors.mjs. With --changed, only the lines that differ from a commit (HEAD^ by default) are
// mutated, at most CHANGED_LINES of them. With --share, only so many of a part's mutants are tried, such as 0.2: which
// ones depends on --seed, by default the date.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { changedLines } from './changed-lines.mjs';
import { EXPLAINED_SURVIVORS } from './explained-survivors.mjs';
import { PARTS } from './parts.mjs';
import { readReport } from './report.mjs';

const LEAST_SCORE = 95;
const CHANGED_LINES = 60;

const { values, positionals } = parseArgs({
  options: {
    changed: { type: 'boolean', default: false },
    share: { type: 'string' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10) },
  },
  allowPositionals: true,
});

const share = Number(values.share ?? 1);
if (!(share > 0 && share <= 1)) {
  throw new Error(`--share must be a number above 0 and at most 1; received ${values.share}`);
}

process.exitCode = values.changed ? runChanged(positionals[0] ?? 'HEAD^') : runParts(positionals);

function runParts(names) {
  const unknown = names.find((name) => !PARTS[name]);
  if (unknown)
    throw new Error(`No part "${unknown}": choose from ${Object.keys(PARTS).join(', ')}`);
  const results = (names.length > 0 ? names : Object.keys(PARTS)).map((name) => mutate(name));
  print(results);
  // If a part has no mutants, its patterns match nothing.
  const good = results.every(
    ({ mutants, score, survivors }) =>
      mutants > 0 && score >= LEAST_SCORE && survivors.every(({ why }) => why),
  );
  return good ? 0 : 1;
}

function runChanged(base) {
  if (spawnSync('git', ['rev-parse', '--verify', '--quiet', `${base}^{commit}`]).status !== 0) {
    console.log(`Mutants of changed lines: skipped, because there is no commit ${base} here.`);
    return 0;
  }
  const { ranges, taken, all } = changedLines(base, PARTS, CHANGED_LINES);
  console.log(
    `Mutants of changed lines: of the lines changed since ${base}, ${all} are in parts that are mutated` +
      (taken < all
        ? `; only the first ${taken} are tried here, all of them by npm run test:mutation.`
        : '.'),
  );
  const results = [...ranges].map(([name, lines]) => mutate(name, lines));
  print(results);
  const good = results.every(
    ({ score, survivors }) => score > 0 && survivors.every(({ why }) => why),
  );
  return good ? 0 : 1;
}

function mutate(name, lines = []) {
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
        MUTATION_LINES: lines.join(','),
        ...(values.share && { MUTATION_SHARE: values.share, MUTATION_SEED: values.seed }),
      },
    },
  );
  if (status !== 0) {
    // The other parts are still tried.
    console.error(`Stryker could not mutate ${name}: exit code ${status}`);
    return { name, mutants: 0, detected: 0, survivors: [], score: 0 };
  }
  const { detected, survivors } = readReport(
    JSON.parse(readFileSync(file, 'utf8')),
    EXPLAINED_SURVIVORS,
  );
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
    for (const { file, line, code, to, why } of survivors) {
      console.log(`${file}:${line}\n  ${code}\n  became ${to}\n  ${why ?? 'NOT EXPLAINED'}`);
    }
  }
  console.table(
    results.map(({ name, mutants, detected, survivors, score }) => ({
      part: name,
      mutants,
      detected,
      score: `${score.toFixed(1)}%`,
      explained: survivors.filter(({ why }) => why).length,
      'not explained': survivors.filter(({ why }) => !why).length,
    })),
  );
  if (values.share)
    console.log(`A share of ${values.share} of the mutants, by the seed ${values.seed}`);
  console.log(`${new Date().toISOString().slice(0, 10)}, Node ${process.version}`);
}
