import type { Changes, Delivery } from './changes.js';
import { changesPlayer } from './changes-player.js';
import { replayAll } from './replay.js';
import type { ModelStore } from './stores.js';
import { everyStep, type Model, type Plan, tracesTo } from './traces.js';

/** What was replayed. */
export interface Replayed {
  /** How many different traces of the model. */
  readonly traces: number;
  /** How many steps were taken and compared. */
  readonly steps: number;
}

type Planner = <Place, Step>(model: Model<Place, Step>) => Plan<Step>;

/** Every trace of so many steps. */
export const toDepth =
  (depth: number): Planner =>
  (model) =>
    tracesTo(model, depth);

/** Every step at every place. */
export const every: Planner = (model) => everyStep(model);

/**
 * Replays the model on a store, in every setting.
 *
 * @throws {Divergence} after the first step that ends otherwise
 */
export async function play(store: ModelStore, plan: Planner): Promise<Replayed> {
  const all = { traces: 0, steps: 0 };
  for (const player of settings()) {
    const planned = plan<Changes, Delivery>(player.model);
    all.steps += await replayAll(store, player, planned.traces);
    all.traces += planned.count;
  }
  return all;
}

function settings() {
  const both = [false, true];
  return both.flatMap((parks) => both.map((isSending) => changesPlayer(parks, isSending)));
}
