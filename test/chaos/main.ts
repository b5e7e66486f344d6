import { runCrashTest } from './crash-run.js';
import { runShopTest } from './shop-run.js';

// The crash tests at full size. `node --import tsx test/chaos/main.ts` runs that of callbacks on Redis, whose size is
// CHAOS_PAYMENTS. `payments` runs that of a shop whose callbacks come afterwards, `shop` that of both together, on each
// database; `shop postgres` on one, and with CHAOS_PGBOUNCER=1 through pgbouncer. CHAOS_ORDERS is their size.
// CHAOS_KILL_EVERY_MS and CHAOS_SEED change each.

const { CHAOS_PAYMENTS, CHAOS_ORDERS, CHAOS_KILL_EVERY_MS, CHAOS_SEED } = process.env;
const common = {
  killEveryMs: Number(CHAOS_KILL_EVERY_MS ?? 300),
  ...(CHAOS_SEED && { seed: Number(CHAOS_SEED) }),
};
const orders = Number(CHAOS_ORDERS ?? 2000);

const [subject, chosen] = process.argv.slice(2);
if (subject === undefined) {
  tell(await runCrashTest({ kind: 'redis', payments: Number(CHAOS_PAYMENTS ?? 2000), ...common }));
} else {
  const callbacks = subject === 'payments' ? 'afterwards' : 'meanwhile';
  for (const kind of ['postgres', 'mysql', 'sqlite'] as const) {
    if (chosen !== undefined && chosen !== kind) continue;
    tell(await runShopTest({ kind, orders, callbacks, ...common }));
  }
}

function tell({ text, mistakes }: { text: string; mistakes: readonly string[] }): void {
  console.log(`${text}\n`);
  if (mistakes.length > 0) process.exitCode = 1;
}
