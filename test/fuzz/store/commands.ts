import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CallbackStore, ChangeOutcome } from '../../../src/store/callback-store.js';
import {
  type Delivery,
  deliveries,
  describeDelivery,
  nameOf,
  ORDERS,
  raced,
  toStatusChange,
} from './deliveries.js';
import type { Begun, Holder, Refusal, StoreModel, Told } from './model.js';
import type { OpenStore, StoreUnderTest } from './store.js';

/** A delivery whose work waits until the test ends it. */
interface HeldDelivery extends Holder {
  readonly ending: Promise<Ending>;
  readonly failure: Error;
  end(how: 'return' | 'throw'): void;
}

type Ending = ChangeOutcome | Refusal | { readonly error: unknown };

/** The real store, and what is under way in it. */
export interface Scene {
  readonly store: OpenStore;
  readonly held: HeldDelivery[];
  /** The names of the changes whose works were recorded, one for each time. */
  readonly recorded: string[];
  /** How often a policy was told that its change is parked, and should have been. */
  readonly parked: { told: number; expected: number };
  /** What could not be kept. */
  readonly notKept: unknown[];
}

export type StoreCommand = fc.AsyncCommand<StoreModel, Scene>;

class WorkFailed extends Error {}

/** A delivery that ends before the next command. */
class Deliver implements StoreCommand {
  readonly delivery: Delivery;
  readonly through: number;
  readonly succeeds: boolean;

  constructor(delivery: Delivery, through: number, succeeds: boolean) {
    this.delivery = delivery;
    this.through = through;
    this.succeeds = succeeds;
  }

  check = () => true;

  async run(model: StoreModel, scene: Scene): Promise<void> {
    const { delivery, succeeds } = this;
    const holder = { delivery };
    const expected = model.begin(holder);
    const failure = new WorkFailed();
    const told: Told[] = [];
    const ending = await process(scene, this.through, delivery, async (context) => {
      told.push(toTold(context));
      await scene.store.writeEffect?.(context, delivery);
      if (!succeeds) throw failure;
    });
    assert.deepEqual(told, 'told' in expected ? [expected.told] : [], 'what the work was told');
    if ('refused' in expected) {
      const { refused } = expected;
      assert(model.allows(delivery, refused, ending), `${inspectEnding(ending)}, not ${refused}`);
    }
    if ('told' in expected) {
      assert.deepEqual(ending, succeeds ? 'processed' : { error: failure });
      finish(model, scene, holder, succeeds);
    }
  }

  toString = () => `deliver ${describeDelivery(this.delivery)}${this.succeeds ? '' : ', fails'}`;
}

/** A delivery whose work goes on over the next commands. */
class Begin implements StoreCommand {
  readonly delivery: Delivery;
  readonly through: number;

  constructor(delivery: Delivery, through: number) {
    this.delivery = delivery;
    this.through = through;
  }

  check = () => true;

  async run(model: StoreModel, scene: Scene): Promise<void> {
    const { delivery } = this;
    const failure = new WorkFailed();
    let end: HeldDelivery['end'] = () => undefined;
    const mayEnd = new Promise<void>((resolve, reject) => {
      end = (how) => (how === 'return' ? resolve() : reject(failure));
    });
    mayEnd.catch(() => undefined);
    let begin = (_: Begun): void => undefined;
    const begun = new Promise<Begun>((resolve) => {
      begin = resolve;
    });
    const ending = process(scene, this.through, delivery, async (context) => {
      await scene.store.writeEffect?.(context, delivery);
      begin({ told: toTold(context) });
      await mayEnd;
    });
    const holder: HeldDelivery = { delivery, ending, failure, end };
    const expected = model.begin(holder);
    const refused = ending.then((how): Begun => ({ refused: how as Refusal }));
    const answer = await Promise.race([begun, refused]);
    if ('refused' in answer && 'refused' in expected) {
      assert(model.allows(delivery, expected.refused, answer.refused), `${answer.refused}`);
    } else assert.deepEqual(answer, expected);
    if ('told' in expected) scene.held.push(holder);
  }

  toString = () => `begin ${describeDelivery(this.delivery)}`;
}

/** Ends one that is under way, dead or alive. */
class End implements StoreCommand {
  readonly which: number;
  readonly how: 'return' | 'throw';

  constructor(which: number, how: 'return' | 'throw') {
    this.which = which;
    this.how = how;
  }

  check = () => true;

  async run(model: StoreModel, scene: Scene): Promise<void> {
    const [holder] = scene.held.splice(this.which % Math.max(1, scene.held.length), 1);
    if (holder === undefined) return;
    const returns = this.how === 'return';
    holder.end(this.how);
    const ending = await holder.ending;
    const isRecorded = finish(model, scene, holder, returns);
    if (!returns) assert.deepEqual(ending, { error: holder.failure });
    else if (isRecorded) assert.equal(ending, 'processed');
    else assert.equal(codeOf(ending), 'LEASE_LOST');
  }

  toString = () => `end ${this.which} by ${this.how}`;
}

/** Takes one that is under way for dead. */
class Kill implements StoreCommand {
  readonly which: number;
  readonly death: 'expires' | 'lost';

  constructor(which: number, death: 'expires' | 'lost') {
    this.which = which;
    this.death = death;
  }

  check = () => true;

  async run(model: StoreModel, scene: Scene): Promise<void> {
    const { store, held } = scene;
    const index = this.which % Math.max(1, held.length);
    const holder = held[index];
    if (holder === undefined || !model.holds(holder)) return;
    await store.kill?.(holder.delivery);
    if (this.death === 'expires') {
      model.expire(holder);
      return;
    }
    held.splice(index, 1);
    assert.equal(codeOf(await holder.ending), 'TRANSACTION_LOST');
    // It is a failure of the change, kept in another transaction.
    finish(model, scene, holder, false);
    holder.end('return');
  }

  toString = () => `kill ${this.which}`;
}

/** Creates the payment of an order. */
class Create implements StoreCommand {
  readonly order: string;

  constructor(order: string) {
    this.order = order;
  }

  // It would wait for the order's row.
  check = (model: Readonly<StoreModel>) => !model.isInWork(this.order);

  async run(model: StoreModel, { store }: Scene): Promise<void> {
    const input = { merchantPaymentReference: this.order, amount: 1, currency: 'EUR' };
    assert.equal((await store.payments?.create(input))?.state, 'created');
    model.create(this.order);
  }

  toString = () => `create ${this.order}`;
}

class Prune implements StoreCommand {
  readonly what: 'all' | 'nothing';

  constructor(what: 'all' | 'nothing') {
    this.what = what;
  }

  check = (model: Readonly<StoreModel>) => !ORDERS.some((order) => model.isInWork(order));

  async run(model: StoreModel, { store }: Scene): Promise<void> {
    const before = this.what === 'all' ? '2999-01-01T00:00:00Z' : '1960-01-01T00:00:00Z';
    const count = await store.payments?.prune(new Date(before));
    if (this.what === 'all') model.prune();
    else assert.equal(count, 0);
  }

  toString = () => `prune ${this.what}`;
}

/** Several deliveries at once: which of them wins is open, that one does is not. */
class Race implements StoreCommand {
  readonly deliveries: readonly Delivery[];

  constructor(raced: readonly Delivery[]) {
    this.deliveries = raced;
  }

  check = () => true;

  async run(model: StoreModel, scene: Scene): Promise<void> {
    const running = new Set<string>();
    const processed: Delivery[] = [];
    const endings = await Promise.all(
      this.deliveries.map((delivery, index) =>
        process(scene, index, delivery, async (context) => {
          assert(!running.has(delivery.order), 'two works of one order overlap');
          running.add(delivery.order);
          await scene.store.writeEffect?.(context, delivery);
          await new Promise((resolve) => setImmediate(resolve));
          running.delete(delivery.order);
          processed.push(delivery);
        }),
      ),
    );
    const answers = this.deliveries.map((one) => new Set<Refusal | undefined>([model.peek(one)]));
    // In the order in which they were processed, each must have been right to be.
    for (const delivery of processed) {
      const holder = { delivery };
      const begun = model.begin(holder);
      assert('told' in begun, `processed out of turn: ${describeDelivery(delivery)}`);
      assert(finish(model, scene, holder, true));
      for (const [index, one] of this.deliveries.entries()) answers[index]?.add(model.peek(one));
    }
    const count = endings.filter((ending) => ending === 'processed').length;
    assert.equal(count, processed.length, `${processed.length} works, ended ${endings}`);
    for (const [index, ending] of endings.entries()) {
      const delivery = this.deliveries[index] as Delivery;
      if (ending === 'processed') continue;
      // Where one waits for the order's row, others that only look are in the way too.
      const inTheWay = (model.promises.busyFirst ? this.deliveries : processed).some(
        (other) => other !== delivery && other.order === delivery.order,
      );
      // It was right at one time or another of the race.
      assert(
        [...(answers[index] ?? [])].some((answer) => model.allows(delivery, answer, ending)) ||
          (ending === 'busy' && inTheWay),
        `${describeDelivery(delivery)} ended with ${inspectEnding(ending)}, the model says ${[...(answers[index] ?? [])]}`,
      );
    }
  }

  toString = () => `race ${this.deliveries.map(describeDelivery).join(' | ')}`;
}

/** Returns whether the end of the work is recorded. */
function finish(model: StoreModel, scene: Scene, holder: Holder, succeeded: boolean): boolean {
  const parks = !succeeded && model.wouldPark(holder.delivery);
  const isRecorded = model.finish(holder, succeeded);
  if (isRecorded && succeeded) scene.recorded.push(nameOf(holder.delivery));
  if (isRecorded && parks) scene.parked.expected += 1;
  return isRecorded;
}

type Work = Parameters<CallbackStore<unknown>['process']>[1];

async function process(
  { store, parked, notKept }: Scene,
  through: number,
  delivery: Delivery,
  work: Work,
): Promise<Ending> {
  const opened = store.stores[through % store.stores.length] as CallbackStore<unknown>;
  try {
    const result = await opened.process(toStatusChange(delivery), work);
    if (result.outcome !== 'failed') return result.outcome;
    if (result.parkedAfter !== undefined) parked.told += 1;
    // Of work whose claim was lost before it failed, another delivery tells.
    const isOfLost = (result.notKept as { code?: string } | undefined)?.code === 'LEASE_LOST';
    if (result.notKept !== undefined && !isOfLost) notKept.push(result.notKept);
    return { error: result.error };
  } catch (error) {
    return { error };
  }
}

function toTold({ current, secondPayment }: Parameters<Work>[0]): Told {
  return { current, secondPayment: secondPayment ?? false };
}

function codeOf(ending: Ending): string | undefined {
  assert(typeof ending === 'object', `a lost work ended with ${String(ending)}`);
  return (ending.error as { code?: string }).code;
}

function inspectEnding(ending: Ending): string {
  return typeof ending === 'string' ? ending : String(ending.error);
}

const through = fc.nat(1);
const which = fc.nat(3);

/** Commands that this store can be put through. */
export function commandsFor({ concurrent, death, keeps }: StoreUnderTest) {
  const how = fc.constantFrom<'return' | 'throw'>('return', 'return', 'throw');
  const deliver = fc
    .tuple(deliveries, through, fc.constantFrom(true, true, false))
    .map((parts): StoreCommand => new Deliver(...parts));
  const underWay = [
    raced.map((parts): StoreCommand => new Race(parts)),
    fc.tuple(deliveries, through).map((parts): StoreCommand => new Begin(...parts)),
    fc.tuple(which, how).map((parts): StoreCommand => new End(...parts)),
  ];
  const managed = [
    fc.constantFrom(...ORDERS).map((order): StoreCommand => new Create(order)),
    fc.constantFrom<'all' | 'nothing'>('all', 'nothing').map((what) => new Prune(what)),
  ];
  return fc.commands<StoreModel, Scene, false>(
    [
      deliver,
      deliver,
      deliver,
      ...(concurrent ? underWay : []),
      ...(death === undefined ? [] : [which.map((index) => new Kill(index, death))]),
      ...(keeps ? managed : []),
    ],
    { maxCommands: 20, size: 'max' },
  );
}
