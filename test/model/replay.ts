import { isDeepStrictEqual } from 'node:util';
import type { PaymentRow } from '../../src/store/payment-row.js';
import type { Lane, ModelStore } from './stores.js';
import type { Model } from './traces.js';

/** A step after which a store holds or answers something else than the model. */
export class Divergence extends Error {
  constructor(trace: readonly unknown[], what: { expected: unknown; found: unknown }) {
    const steps = trace.map((step) => JSON.stringify(step));
    const { expected, found } = what;
    super(
      `after\n  ${steps.join('\n  ')}\nthe model has ${JSON.stringify(expected)}\nthe store has ${JSON.stringify(found)}`,
    );
    this.name = 'Divergence';
  }
}

/** How the steps of a model are taken on a real store, and what must be seen of it. */
export interface Player<Place, Step> {
  readonly model: Model<Place, Step>;
  /** Brings the order to where the model starts. `Run` is what a replay remembers. */
  begin(lane: Lane, key: string): Promise<Run>;
  /** Takes the step, and resolves with the store's answer. */
  take(run: Run, step: Step): Promise<unknown>;
  /** What the store must answer, where the model says so. */
  answerTo(step: Step, place: Place, changed: Place): unknown;
  look(run: Run): Promise<unknown>;
  /** What {@link look} must find. */
  show(run: Run, place: Place): unknown;
}

/** A replay that is under way. */
export interface Run {
  readonly lane: Lane;
  /** The order's reference. */
  readonly key: string;
  /** What the claims that were granted have returned. */
  readonly claims: PaymentRow[];
  /** How many steps were taken. */
  count: number;
}

let orders = 0;

/** Replays the traces, each on an order of its own. Resolves with the number of steps that were compared. */
export async function replayAll<Place, Step>(
  store: ModelStore,
  player: Player<Place, Step>,
  traces: readonly (readonly Step[])[],
): Promise<number> {
  let steps = 0;
  const waiting = traces.values();
  await Promise.all(
    Array.from({ length: store.lanes }, async (_, index) => {
      const lane = await store.open(index);
      for (const trace of waiting) {
        orders += 1;
        const run = await player.begin(lane, `order-${orders}`);
        await replay(player, run, trace);
        await lane.leave(run.key);
        steps += trace.length;
      }
    }),
  );
  return steps;
}

async function replay<Place, Step>(
  player: Player<Place, Step>,
  run: Run,
  trace: readonly Step[],
): Promise<void> {
  let place = player.model.start;
  for (const [at, step] of trace.entries()) {
    const changed = player.model.after(place, step);
    const answer = await player.take(run, step);
    run.count += 1;
    const found = { answer, holds: await player.look(run) };
    const expected = {
      answer: player.answerTo(step, place, changed),
      holds: player.show(run, changed),
    };
    if (!isDeepStrictEqual(plain(found), plain(expected))) {
      throw new Divergence(trace.slice(0, at + 1), { expected, found });
    }
    place = changed;
  }
}

// Without the fields that are undefined.
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
