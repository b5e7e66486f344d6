import { runOrderTest } from './order-run.js';

// Whether changes of one payment keep their order across instances: `npm run test:order`.
// CHAOS_PAYMENTS changes how many payments there are, CHAOS_INBOX runs one inbox.

const { CHAOS_PAYMENTS = '200', CHAOS_INBOX } = process.env;

for (const inbox of ['postgres', 'mysql', 'redis', 'sqlite'] as const) {
  if (CHAOS_INBOX && CHAOS_INBOX !== inbox) continue;
  const payments = Number(CHAOS_PAYMENTS);
  const counts = await runOrderTest({ inbox, payments });
  console.log(`Order of changes with the ${inbox} inbox`, counts);
  const isComplete = Object.values(counts.runs).every((runs) => runs === payments);
  if (!isComplete || counts.overlapping > 0) process.exitCode = 1;
}
