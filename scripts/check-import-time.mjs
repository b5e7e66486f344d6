// The time to import the package, less that of an empty process, as a ratio to importing a known package.
// Measured as CPU time of the whole process, so that other work on the machine does not count.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from '../bench/paired-batches.mjs';
import { atMost } from '../bench/report.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = (path) => new URL(`../dist/${path}`, import.meta.url).href;

const subjects = {
  empty: undefined,
  callback: dist('callback/index.js'),
  zod: 'zod',
  main: dist('index.js'),
  undici: 'undici',
};

const ROUNDS = 11;

/** Rows with a verdict: each ratio and its limit. */
export function measureImportTime() {
  const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  // The first round fills the disk cache and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, specifier] of Object.entries(subjects)) {
      const time = cpuTime(specifier);
      if (round > 0) times[name].push(time);
    }
  }
  const beyondEmpty = (name) => median(times[name]) - median(times.empty);
  return [
    atMost(
      'importing merchant-payments/callback, ratio to zod',
      beyondEmpty('callback') / beyondEmpty('zod'),
      0.13,
    ),
    atMost(
      'importing merchant-payments, ratio to undici',
      beyondEmpty('main') / beyondEmpty('undici'),
      0.25,
    ),
  ];
}

function cpuTime(specifier) {
  const load = specifier === undefined ? '' : `await import(${JSON.stringify(specifier)});`;
  const code = `${load} const { user, system } = process.cpuUsage(); console.log(user + system);`;
  const args = ['--input-type=module', '--eval', code];
  return Number(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }));
}
