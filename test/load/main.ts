import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '../chaos/seeded-random.js';
import { type Holdings, measure } from './gauge.js';
import { LoadRun } from './load-run.js';

// Whether the client, the mock and a receiver keep anything of what they did: `node --import tsx test/load/main.ts`.
// After each round the process is left alone until it holds no connection, and measured. What is bounded is full after the
// warm-up, and the mock is reset, so rounds are alike, and what grows is a leak. LOAD_PAYMENTS, LOAD_ROUND and LOAD_SEED
// change it; with --quick it takes less than a minute.

const [PAYMENTS, ROUND] = process.argv.includes('--quick') ? ['2000', '1000'] : ['200000', '20000'];
const {
  LOAD_PAYMENTS = PAYMENTS,
  LOAD_ROUND = ROUND,
  LOAD_SEED = randomInt(2 ** 31),
} = process.env;
const [payments, roundSize, seed] = [LOAD_PAYMENTS, LOAD_ROUND, LOAD_SEED].map(Number) as [
  number,
  number,
  number,
];
const WARM_UP_ROUNDS = 2;
const TOLERANCE = 0.05;

const alarms: string[] = [];
for (const event of ['warning', 'unhandledRejection'] as const) {
  process.on(event, (what: unknown) => alarms.push(`${event}: ${(what as Error).stack}`));
}

const run = new LoadRun(seededRandom(seed));
await run.start(Math.ceil(roundSize * 0.8));
const { handles: atRest } = await measure();
const rounds: Holdings[] = [];
for (let from = 0; from < payments; from += roundSize) {
  await run.round(from, Math.min(payments, from + roundSize));
  const held = await measure(atRest);
  rounds.push(held);
  console.log(`${from + roundSize} payments: ${(held.heapUsed / 2 ** 20).toFixed(2)} MiB`);
  if (!isDeepStrictEqual(held.handles, atRest)) {
    run.mistakes.push(`held ${JSON.stringify(held.handles)}, not ${JSON.stringify(atRest)}`);
  }
}
run.end();
const [before, after] = [rounds[WARM_UP_ROUNDS - 1]?.heapUsed ?? 0, rounds.at(-1)?.heapUsed ?? 0];
const growth = after / before - 1;
// Smaller rounds are too small for the heap to mean anything.
if (roundSize >= 5_000 && growth > TOLERANCE) {
  run.mistakes.push(`the heap grew by ${(growth * 100).toFixed(1)}%`);
}
const mistakes = [...run.mistakes, ...alarms];
console.log(`Seed ${seed}, Node ${process.version}, the heap since the warm-up ${growth * 100}%`);
console.table(run.counts);
console.log(`${mistakes.length} mistakes`, mistakes.slice(0, 30));
process.exit(mistakes.length === 0 ? 0 : 1);
