import { runShopTest, type ShopRunOptions } from './shop-run.js';

/** The crash run of a shop at full size, on one database or on all. */
export async function runShopAtFullSize(
  callbacks: ShopRunOptions['callbacks'],
  chosen: string | undefined,
): Promise<void> {
  const { CHAOS_ORDERS = '2000', CHAOS_KILL_EVERY_MS = '300', CHAOS_SEED } = process.env;
  for (const kind of ['postgres', 'mysql', 'sqlite'] as const) {
    if (chosen !== undefined && chosen !== kind) continue;
    const { text, mistakes } = await runShopTest({
      kind,
      orders: Number(CHAOS_ORDERS),
      callbacks,
      killEveryMs: Number(CHAOS_KILL_EVERY_MS),
      ...(CHAOS_SEED && { seed: Number(CHAOS_SEED) }),
    });
    console.log(`${text}\n`);
    if (mistakes.length > 0) process.exitCode = 1;
  }
}
