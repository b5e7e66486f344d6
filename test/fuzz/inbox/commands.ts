import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CallbackStore, StatusChange, ChangeOutcome } from '../../../src/store/callback-store.js';
import type { Holder, InboxModel } from './model.js';
import type { OpenStore, Pruning, StoreUnderTest } from './store.js';

/** A delivery whose work waits until the test ends it. */
interface HeldDelivery extends Holder {
  readonly ending: Promise<Ending>;
  end(how: 'return' | 'throw'): void;
}

type Ending = ChangeOutcome | { readonly error: unknown };

/** The real store, and what is under way in it. */
export interface Scene {
  readonly store: OpenStore;
  readonly held: HeldDelivery[];
  /** The keys of works that were recorded, one for each time. */
  readonly recorded: string[];
}

export type InboxCommand = fc.AsyncCommand<InboxModel, Scene>;

class WorkFailed extends Error {}

/** A delivery that ends before the next command. */
class Deliver implements InboxCommand {
  readonly event: StatusChange;
  readonly through: number;
  readonly succeeds: boolean;

  constructor(event: StatusChange, through: number, succeeds: boolean) {
    this.event = event;
    this.through = through;
    this.succeeds = succeeds;
  }

  check = () => true;

  async run(model: InboxModel, scene: Scene): Promise<void> {
    const { event } = this;
    const holder = { event };
    const expected = model.begin(holder);
    const failure = new WorkFailed();
    let ran = 0;
    const ending = await settle(
      inboxAt(scene, this.through).process({ ...event }, async (context) => {
        ran += 1;
        await scene.store.writeEffect?.(context, event);
        if (!this.succeeds) throw failure;
      }),
    );
    assert.equal(ran, expected === 'claimed' ? 1 : 0, 'how often the work ran');
    if (expected !== 'claimed') assert.deepEqual(ending, expected);
    else assert.deepEqual(ending, this.succeeds ? 'processed' : { error: failure });
    if (expected === 'claimed' && model.finish(holder, this.succeeds))
      scene.recorded.push(event.key);
  }

  toString = () => `deliver ${describe(this.event)}${this.succeeds ? '' : ', which fails'}`;
}

/** A delivery whose work goes on over the next commands. */
class Begin implements InboxCommand {
  readonly event: StatusChange;
  readonly through: number;

  constructor(event: StatusChange, through: number) {
    this.event = event;
    this.through = through;
  }

  check = () => true;

  async run(model: InboxModel, scene: Scene): Promise<void> {
    const { event } = this;
    let end: HeldDelivery['end'] = () => undefined;
    const told = new Promise<void>((resolve, reject) => {
      end = (how) => (how === 'return' ? resolve() : reject(new WorkFailed()));
    });
    told.catch(() => undefined);
    let begin = (): void => undefined;
    const begun = new Promise<'claimed'>((resolve) => {
      begin = () => resolve('claimed');
    });
    const ending = settle(
      inboxAt(scene, this.through).process({ ...event }, async (context) => {
        await scene.store.writeEffect?.(context, event);
        begin();
        await told;
      }),
    );
    const holder: HeldDelivery = { event, ending, end };
    const expected = model.begin(holder);
    assert.deepEqual(await Promise.race([begun, ending]), expected);
    if (expected === 'claimed') scene.held.push(holder);
  }

  toString = () => `begin ${describe(this.event)}`;
}

/** Ends one that is under way, dead or alive. */
class End implements InboxCommand {
  readonly which: number;
  readonly how: 'return' | 'throw';

  constructor(which: number, how: 'return' | 'throw') {
    this.which = which;
    this.how = how;
  }

  check = () => true;

  async run(model: InboxModel, scene: Scene): Promise<void> {
    const [holder] = scene.held.splice(this.which % Math.max(1, scene.held.length), 1);
    if (holder === undefined) return;
    holder.end(this.how);
    const ending = await holder.ending;
    if (model.finish(holder, this.how === 'return')) {
      assert.deepEqual(ending, 'processed');
      scene.recorded.push(holder.event.key);
    } else {
      assert(typeof ending === 'object', `a lost or failed work ended with ${String(ending)}`);
      if (this.how === 'throw') assert(ending.error instanceof WorkFailed);
      else assert.equal((ending.error as { code?: string }).code, 'LEASE_LOST');
    }
  }

  toString = () => `end ${this.which} by ${this.how}`;
}

/** Takes one that is under way for dead. */
class Kill implements InboxCommand {
  readonly which: number;
  readonly death: 'expires' | 'dropped';

  constructor(which: number, death: 'expires' | 'dropped') {
    this.which = which;
    this.death = death;
  }

  check = () => true;

  async run(model: InboxModel, { store, held }: Scene): Promise<void> {
    const index = this.which % Math.max(1, held.length);
    const holder = held[index];
    if (holder === undefined || !model.holds(holder)) return;
    await store.kill?.(holder.event);
    if (this.death === 'expires') {
      model.expire(holder);
      return;
    }
    model.drop(holder);
    held.splice(index, 1);
    const ending = await holder.ending;
    assert(typeof ending === 'object', 'the delivery of a lost transaction must fail');
    assert.equal((ending.error as { code?: string }).code, 'TRANSACTION_LOST');
    holder.end('return');
  }

  toString = () => `kill ${this.which}`;
}

class Prune implements InboxCommand {
  readonly what: Pruning | 'nothing';

  constructor(what: Pruning | 'nothing') {
    this.what = what;
  }

  check = () => true;

  async run(model: InboxModel, { store }: Scene): Promise<void> {
    if (this.what === 'nothing') return store.pruneNothing?.();
    await store.pruneAll?.();
    model.prune(this.what);
  }

  toString = () => `prune ${this.what}`;
}

/** Several deliveries at once: which of them wins is open, that one does is not. */
class Race implements InboxCommand {
  readonly events: readonly StatusChange[];

  constructor(events: readonly StatusChange[]) {
    this.events = events;
  }

  check = () => true;

  async run(model: InboxModel, scene: Scene): Promise<void> {
    const running = new Set<string>();
    const processed: StatusChange[] = [];
    const endings = await Promise.all(
      this.events.map((event, index) =>
        settle(
          inboxAt(scene, index).process({ ...event }, async (context) => {
            assert(!running.has(event.referenceNumber), 'two works of one payment overlap');
            running.add(event.referenceNumber);
            await scene.store.writeEffect?.(context, event);
            await new Promise((resolve) => setImmediate(resolve));
            running.delete(event.referenceNumber);
            processed.push(event);
          }),
        ),
      ),
    );
    const answers = this.events.map((event) => new Set<unknown>([model.peek(event)]));
    // In the order in which they were processed, each must have been right to be.
    for (const event of processed) {
      const holder = { event };
      assert.equal(model.begin(holder), 'claimed', `processed out of turn: ${describe(event)}`);
      assert(model.finish(holder, true));
      scene.recorded.push(event.key);
      for (const [index, raced] of this.events.entries()) answers[index]?.add(model.peek(raced));
    }
    const count = endings.filter((ending) => ending === 'processed').length;
    assert.equal(
      count,
      processed.length,
      `${processed.length} works, ended ${endings.map(String)}`,
    );
    for (const [index, ending] of endings.entries()) {
      const event = this.events[index] as StatusChange;
      if (ending === 'processed') continue;
      // Where one waits for the payment's row, others that only look are in the way too.
      const inTheWay = (model.busyFirst ? this.events : processed).some(
        (other) => other !== event && other.referenceNumber === event.referenceNumber,
      );
      // It was right at one time or another of the race.
      assert(
        answers[index]?.has(ending) || (ending === 'busy' && inTheWay),
        `${describe(event)} ended with ${inspectEnding(ending)}, the model says ${[...(answers[index] ?? [])]}`,
      );
      assert.notEqual(ending, 'claimed');
    }
  }

  toString = () => `race ${this.events.map(describe).join(' | ')}`;
}

function inboxAt({ store }: Scene, through: number): CallbackStore<unknown> {
  return store.inboxes[through % store.inboxes.length] as CallbackStore<unknown>;
}

function settle(processing: Promise<ChangeOutcome>): Promise<Ending> {
  return processing.catch((error: unknown) => ({ error }));
}

function inspectEnding(ending: Ending): string {
  return typeof ending === 'string' ? ending : String(ending.error);
}

function describe({ referenceNumber, key, occurredAt, processStale }: StatusChange): string {
  return `${referenceNumber}/${key} at ${Number(occurredAt)}${processStale ? ', stale too' : ''}`;
}

// Few of each, so that deliveries meet.
const events: fc.Arbitrary<StatusChange> = fc
  .record({
    payment: fc.constantFrom('pay-1', 'pay-2', '__proto__', 'p{a}y é'),
    change: fc.nat(5),
    processStale: fc.constantFrom(false, false, false, true),
  })
  .map(({ payment, change, processStale }) => ({
    referenceNumber: payment,
    key: `${payment} change ${change}`,
    // Two changes at one instant, and one before 1970.
    occurredAt: new Date([0, 1000, 1000, 1001, -5, 2 ** 42][change] ?? 0),
    processStale,
  }));

const through = fc.nat(1);
const which = fc.nat(3);

/** Commands that this store can be put through. */
export function commandsFor({ concurrent, death, prunes }: StoreUnderTest) {
  const how = fc.constantFrom<'return' | 'throw'>('return', 'return', 'throw');
  const deliver = fc
    .tuple(events, through, fc.constantFrom(true, true, true, false))
    .map((parts): InboxCommand => new Deliver(...parts));
  const race = fc
    .array(events, { minLength: 2, maxLength: 5 })
    .map((raced): InboxCommand => new Race(raced));
  return fc.commands(
    [
      deliver,
      deliver,
      ...(concurrent
        ? [
            race,
            fc.tuple(events, through).map((parts): InboxCommand => new Begin(...parts)),
            fc.tuple(which, how).map((parts): InboxCommand => new End(...parts)),
          ]
        : []),
      ...(death === undefined ? [] : [which.map((index): InboxCommand => new Kill(index, death))]),
      ...(prunes === undefined
        ? []
        : [
            fc
              .constantFrom('nothing' as const, prunes)
              .map((what): InboxCommand => new Prune(what)),
          ]),
    ],
    { maxCommands: 20, size: 'max' },
  );
}
