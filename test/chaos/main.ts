import { runCrashTest } from './crash-run.js';
import { runShopAtFullSize } from './shop-main.js';

// The crash tests at full size. `node --import tsx test/chaos/main.ts` runs that of callbacks; CHAOS_PAYMENTS,
// CHAOS_KILL_EVERY_MS and CHAOS_SEED change it, CHAOS_STORE=redis, postgres, mysql or sqlite runs one of them.
// `-- payments` runs that of payments, whose callbacks come afterwards, `-- shop` that of both together;
// `-- shop postgres` on one database. CHAOS_ORDERS is their size.

const {
  CHAOS_PAYMENTS = '2000',
  CHAOS_KILL_EVERY_MS = '300',
  CHAOS_SEED,
  CHAOS_STORE,
} = process.env;

const [subject, store] = process.argv.slice(2);
if (subject === 'payments') await runShopAtFullSize('afterwards', store);
else if (subject === 'shop') await runShopAtFullSize('meanwhile', store);
else await runCallbacks();

async function runCallbacks(): Promise<void> {
  for (const kind of ['postgres', 'mysql', 'redis', 'sqlite'] as const) {
    if (CHAOS_STORE && CHAOS_STORE !== kind) continue;
    const { text, mistakes } = await runCrashTest({
      kind,
      payments: Number(CHAOS_PAYMENTS),
      killEveryMs: Number(CHAOS_KILL_EVERY_MS),
      ...(CHAOS_SEED && { seed: Number(CHAOS_SEED) }),
    });
    console.log(`${text}\n`);
    if (mistakes.length > 0) process.exitCode = 1;
  }
}
