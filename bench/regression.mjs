// Fails when verifying is slower than stripe's in the same run, or creating has become slower than in the last release, and
// only where that is certain:
//
//   node bench/regression.mjs           compares with stripe and baseline.json
//   node bench/regression.mjs --write   measures the baseline, at a release

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { measureInOwnProcess } from './own-process.mjs';
import { median, medianDeviation, SHORT } from './paired-batches.mjs';
import { startService } from './service-process.mjs';

const baselineFile = new URL('./baseline.json', import.meta.url);
const PROCESSES = 5;
const BASELINE_RUNS = 8;

/** The spread of normally distributed values from their median deviation. */
const TO_SIGMA = 1.4826;
/** The standard error of a median is so much that of a mean. */
const OF_MEDIAN = 1.2533;
/** Once in a thousand runs a value lies further away by chance. */
const SIGMAS = 3.3;

/** The ratio of each subject to its floor, in several processes. */
async function measure() {
  const { baseUrl, stop } = await startService();
  const ratios = { verify: [], stripe: [], create: [] };
  const suite = (name) => new URL(`./${name}.mjs`, import.meta.url).href;
  for (let count = 0; count < PROCESSES; count += 1) {
    ratios.verify.push(await measureInOwnProcess(suite('verify'), 'ours', SHORT));
    ratios.stripe.push(await measureInOwnProcess(suite('verify'), 'stripe', SHORT));
    ratios.create.push(await measureInOwnProcess(suite('client'), 'ours', baseUrl, SHORT));
  }
  stop();
  return ratios;
}

const machine = { node: process.version.split('.', 1)[0], cpu: cpus()[0]?.model };

/**
 * Runs that follow each other, since what a machine does meanwhile moves a whole run. Every other one runs
 * beside other work, as CI does, since that changes the ratios as well.
 */
async function writeBaseline() {
  const runs = [];
  for (let count = 0; count < BASELINE_RUNS; count += 1) {
    const others = count % 2 === 0 ? [] : Array.from({ length: availableParallelism() }, beBusy);
    runs.push(await measure());
    for (const other of others) other.kill();
  }
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  for (const run of runs) {
    console.log(
      Object.entries(run)
        .map(([name, ratios]) => `${name} ${round(median(ratios))}`)
        .join(', '),
    );
  }
  const medians = runs.map(({ create }) => median(create));
  const margin = SIGMAS * TO_SIGMA * medianDeviation(medians);
  const subjects = { create: { ratio: round(median(medians)), margin: round(margin) } };
  writeFileSync(baselineFile, `${JSON.stringify({ version, ...machine, subjects }, null, 2)}\n`);
}

const BUSY = 'const map = new Map(); for (let n = 0; ; n += 1) map.set(n % 1e6, String(n));';
const beBusy = () => spawn(process.execPath, ['--eval', BUSY], { stdio: 'ignore' });

const round = (value) => Math.round(value * 1000) / 1000;

async function compare() {
  const baseline = JSON.parse(readFileSync(baselineFile, 'utf8'));
  const isSameMachine = baseline.node === machine.node && baseline.cpu === machine.cpu;
  const { verify, stripe, create } = await measure();
  const isBehind = tell('verify', verify, "stripe's", {
    ratio: median(stripe),
    margin: errorOf(stripe),
  });
  const isSlower = tell('create', create, baseline.version, baseline.subjects.create);
  // Another processor or Node has another baseline: nothing follows from it.
  if (isBehind || (isSlower && isSameMachine)) process.exitCode = 1;
  if (!isSameMachine)
    console.log(`The baseline is of ${baseline.cpu}, Node ${baseline.node}: for information`);
}

const errorOf = (ratios) =>
  (SIGMAS * OF_MEDIAN * TO_SIGMA * medianDeviation(ratios)) / Math.sqrt(PROCESSES);

/** Whether the ratios lie above another by more than can be chance. */
function tell(name, ratios, whose, { ratio, margin }) {
  const now = median(ratios);
  const error = errorOf(ratios);
  const isSlower = now - error > ratio + margin;
  console.log(
    `${name}: ${round(now)} ± ${round(error)}; ${whose} is ${round(ratio)} ± ${round(margin)}: ${isSlower ? 'SLOWER' : 'not slower'}`,
  );
  return isSlower;
}

if (process.argv.includes('--write')) await writeBaseline();
else await compare();
