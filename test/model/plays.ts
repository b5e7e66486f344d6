import type { Changes, Delivery } from './changes.js';
import { changesPlayer } from './changes-player.js';
import { payments } from './order.js';
import { paymentsPlayer } from './payments-player.js';
import { replayAll } from './replay.js';
import type { ModelStore } from './stores.js';
import { everyStep, type Model, type Plan, tracesTo } from './traces.js';

/** What was replayed. */
export interface Replayed {
  readonly model: string;
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
 * Replays both models on a store, that of callbacks in every setting.
 *
 * @throws {Divergence} after the first step that ends otherwise
 */
export async function play(
  store: ModelStore,
  plan: Planner,
  planOfChanges = plan,
): Promise<Replayed[]> {
  const { traces, count } = plan(payments);
  const steps = await replayAll(store, paymentsPlayer, traces);
  const all = { model: 'changes', traces: 0, steps: 0 };
  for (const player of settings()) {
    const planned = planOfChanges<Changes, Delivery>(player.model);
    all.steps += await replayAll(store, player, planned.traces);
    all.traces += planned.count;
  }
  return [{ model: 'payments', traces: count, steps }, all];
}

function settings() {
  const both = [false, true];
  return both.flatMap((parks) => both.map((isSending) => changesPlayer(parks, isSending)));
}
