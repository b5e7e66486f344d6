import { runOrderTest } from './order-run.js';

// Whether changes of one payment keep their order across instances: `node --import tsx test/chaos/order.ts`.
// CHAOS_PAYMENTS changes how many payments there are, CHAOS_STORE runs one store.

const { CHAOS_PAYMENTS = '200', CHAOS_STORE } = process.env;

for (const kind of ['postgres', 'mysql', 'redis', 'sqlite'] as const) {
  if (CHAOS_STORE && CHAOS_STORE !== kind) continue;
  const payments = Number(CHAOS_PAYMENTS);
  const counts = await runOrderTest({ kind, payments });
  console.log(`Order of changes in the store on ${kind}`, counts);
  const isComplete = Object.values(counts.runs).every((runs) => runs === payments);
  if (!isComplete || counts.overlapping > 0) process.exitCode = 1;
}
