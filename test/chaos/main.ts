import { runCrashTest } from './crash-run.js';
import { runShopAtFullSize } from './shop-main.js';

// The crash tests at full size. `npm run test:chaos` runs that of the inboxes; CHAOS_PAYMENTS,
// CHAOS_KILL_EVERY_MS and CHAOS_SEED change it, CHAOS_INBOX=redis, postgres, mysql or sqlite runs one of them.
// `-- outbox` runs that of the outboxes, whose callbacks come afterwards, `-- shop` that of both together;
// `-- shop postgres` on one store. CHAOS_ORDERS is their size.

const {
  CHAOS_PAYMENTS = '2000',
  CHAOS_KILL_EVERY_MS = '300',
  CHAOS_SEED,
  CHAOS_INBOX,
} = process.env;

const [subject, store] = process.argv.slice(2);
if (subject === 'outbox') await runShopAtFullSize('afterwards', store);
else if (subject === 'shop') await runShopAtFullSize('meanwhile', store);
else await runInboxes();

async function runInboxes(): Promise<void> {
  for (const inbox of ['postgres', 'mysql', 'redis', 'sqlite'] as const) {
    if (CHAOS_INBOX && CHAOS_INBOX !== inbox) continue;
    const { text, mistakes } = await runCrashTest({
      inbox,
      payments: Number(CHAOS_PAYMENTS),
      killEveryMs: Number(CHAOS_KILL_EVERY_MS),
      ...(CHAOS_SEED && { seed: Number(CHAOS_SEED) }),
    });
    console.log(`${text}\n`);
    if (mistakes.length > 0) process.exitCode = 1;
  }
}
