import { runLoad } from './load-run.js';

// The load run at full size: `node --import tsx test/load/main.ts`. LOAD_PAYMENTS, LOAD_ROUND and LOAD_SEED change it;
// with --quick it is small enough for every change.

const [PAYMENTS, ROUND] = process.argv.includes('--quick') ? ['2000', '1000'] : ['200000', '20000'];
const { LOAD_PAYMENTS = PAYMENTS, LOAD_ROUND = ROUND, LOAD_SEED } = process.env;

runLoad({
  payments: Number(LOAD_PAYMENTS),
  roundSize: Number(LOAD_ROUND),
  warmUpRounds: Math.min(2, Number(LOAD_PAYMENTS) / Number(LOAD_ROUND) - 1),
  // Smaller rounds are too small for the heap to mean anything.
  comparesHeap: Number(LOAD_ROUND) >= 5_000,
  seed: LOAD_SEED ? Number(LOAD_SEED) : undefined,
  onRound: (line) => console.error(line),
}).then(({ text, mistakes }) => {
  console.log(text);
  if (mistakes.length > 0) process.exitCode = 1;
});
