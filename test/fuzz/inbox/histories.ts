import assert from 'node:assert/strict';
import fc from 'fast-check';
import { watchProcess } from '../process-watch.js';
import { type FuzzOptions, type FuzzResult, HANG_MS, Tally } from '../property-runs.js';
import { commandsFor, type Scene } from './commands.js';
import { InboxModel } from './model.js';
import type { StoreUnderTest } from './store.js';

/** Whatever is done to an inbox, it answers as the model does. A case is one history of commands. */
export async function fuzzInbox(
  store: StoreUnderTest,
  { cases, seed }: FuzzOptions,
): Promise<FuzzResult> {
  const watch = watchProcess();
  const tally = new Tally();
  let histories = 0;
  try {
    await fc.assert(
      fc.asyncProperty(commandsFor(store), async (commands) => {
        histories += 1;
        const open = await store.create(`h${histories}`);
        const scene: Scene = { store: open, held: [], recorded: [] };
        try {
          await fc.asyncModelRun(
            () => ({ model: new InboxModel(store.busyFirst), real: scene }),
            commands,
          );
          await endHeld(scene);
          await expectEffects(scene);
          for (const command of commands) tally.add(String(command).replace(/ .*/, ''));
        } finally {
          await endHeld(scene);
          await open.close?.();
        }
        watch.assertQuiet();
      }),
      { seed, numRuns: cases, timeout: HANG_MS },
    );
    return { cases: histories, counts: tally.counts };
  } finally {
    watch.stop();
  }
}

/** Nothing is left under way. */
async function endHeld({ held }: Scene): Promise<void> {
  for (const { end } of held) end('throw');
  await Promise.all(held.map(({ ending }) => ending));
}

/** What was undone has left no effect, and what was done has one. */
async function expectEffects({ store, recorded }: Scene): Promise<void> {
  if (store.readEffects === undefined) return;
  assert.deepEqual([...(await store.readEffects())].sort(), [...recorded].sort(), 'effects');
}
