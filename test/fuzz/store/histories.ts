import assert from 'node:assert/strict';
import fc from 'fast-check';
import { watchProcess } from '../process-watch.js';
import { type FuzzOptions, type FuzzResult, HANG_MS, Tally } from '../property-runs.js';
import { commandsFor, type Scene } from './commands.js';
import { StoreModel } from './model.js';
import type { StoreUnderTest } from './store.js';

/** Whatever is done to a store, it answers as the model does. A case is one history of commands. */
export async function fuzzStore(
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
        const scene: Scene = {
          store: open,
          held: [],
          recorded: [],
          parked: { told: 0, expected: 0 },
          notKept: [],
        };
        const model = new StoreModel(store);
        try {
          await fc.asyncModelRun(() => ({ model, real: scene }), commands);
          await endHeld(scene, model);
          await expectKept(scene, model);
          for (const command of commands) tally.add(String(command).replace(/ .*/, ''));
        } finally {
          await endHeld(scene, model);
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
async function endHeld({ held, parked }: Scene, model: StoreModel): Promise<void> {
  for (const holder of held.splice(0)) {
    const parks = model.wouldPark(holder.delivery);
    holder.end('throw');
    await holder.ending;
    if (model.finish(holder, false) && parks) parked.expected += 1;
  }
}

/** What was undone has left no effect, and what was done has one; what needs a person is listed. */
async function expectKept(
  { store, recorded, parked, notKept }: Scene,
  model: StoreModel,
): Promise<void> {
  assert.deepEqual(notKept, [], 'failures that were not kept');
  assert.equal(parked.told, parked.expected, 'how often a change was parked');
  if (store.readEffects !== undefined) {
    assert.deepEqual([...(await store.readEffects())].sort(), [...recorded].sort(), 'effects');
  }
  if (store.payments === undefined) return;
  const listed: string[] = [];
  for await (const item of store.payments.attention()) {
    const { merchantPaymentReference: order } = item;
    if (item.kind === 'second-payment') listed.push(`second ${order}/${item.referenceNumber}`);
    if (item.kind === 'failed-change') {
      const name = JSON.stringify([order, item.referenceNumber, item.key]);
      listed.push(`failed ${name} ${item.attempts} ${item.parked}`);
    }
  }
  assert.deepEqual(listed.sort(), [...model.attention].sort(), 'what needs a person');
}
