import { runOutboxTest } from './outbox-run.js';

/** The crash run of the outbox at full size, on one store or on all. */
export async function runOutboxAtFullSize(chosen: string | undefined): Promise<void> {
  const { CHAOS_ORDERS = '2000', CHAOS_KILL_EVERY_MS = '300', CHAOS_SEED } = process.env;
  for (const outbox of ['postgres', 'sqlite'] as const) {
    if (chosen !== undefined && chosen !== outbox) continue;
    const { text, mistakes } = await runOutboxTest({
      outbox,
      orders: Number(CHAOS_ORDERS),
      killEveryMs: Number(CHAOS_KILL_EVERY_MS),
      ...(CHAOS_SEED && { seed: Number(CHAOS_SEED) }),
    });
    console.log(`${text}\n`);
    if (mistakes.length > 0) process.exitCode = 1;
  }
}
