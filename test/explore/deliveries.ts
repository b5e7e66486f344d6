import assert from 'node:assert/strict';
import type { StoreContext } from '../../src/store/callback-store.js';
import { isPaid, type Told } from './ledger.js';
import { OLD_MS } from './scene.js';
import { REFERENCE } from './tables.js';
import type { World } from './world.js';

export type Change = Omit<Told, 'key'>;

type Outcome = 'acknowledged' | 'busy' | 'failed';

/** The callbacks, and the merchant's work for them. */
export class Deliveries {
  readonly #world: World;
  readonly #begun: Told[] = [];
  #failures = 0;

  constructor(world: World) {
    this.#world = world;
  }

  state(): unknown {
    return this.#failures;
  }

  /** A change is delivered until it is acknowledged, and once more. */
  start(change: Change): void {
    const key = `${change.number} ${change.status}${change.at}`;
    const told = { ...change, key };
    this.#begun.push(told);
    this.#world.act(key, () => this.#deliver(told));
  }

  async #deliver(change: Told): Promise<void> {
    const { turns, ledger, scene } = this.#world;
    const { key, number, at } = change;
    const isPruned = (scene.prunes ?? 0) > 0;
    const existsAtMs = turns.nowMs;
    if (isPruned) turns.mark(key, 'exists', OLD_MS);
    // What arrives for the first time later than prune() keeps anything is documented.
    const isInTime = () => !isPruned || turns.nowMs < existsAtMs + OLD_MS || ledger.failed.has(key);
    const isNext = () =>
      !scene.isInOrder ||
      this.#begun.every(
        (other) => other.number !== number || other.at >= at || ledger.told.has(other.key),
      );
    const isFree = () => scene.overlaps === true || ledger.working === undefined;
    for (let isRepeated = false; ; ) {
      if (!isPruned) turns.begin(key, isRepeated ? 'again' : '');
      await turns.step(key, () => (isFree() && isNext() && isInTime() ? ['arrives'] : []));
      const outcome = await this.process(key, change, false);
      // What is delivered again after prune() runs again, as documented.
      if (isRepeated || (isPruned && outcome === 'acknowledged')) return;
      isRepeated = outcome === 'acknowledged';
    }
  }

  /** Delivers, or replays, a change as a receiver does. */
  async process(actor: string, change: Told, runParked: boolean): Promise<Outcome> {
    const { plain, ledger, scene, tables } = this.#world;
    const { key, number, reference, status, at } = change;
    const payment = {
      referenceNumber: number,
      merchantPaymentReference: reference,
      status,
      updatedAt: `2026-01-01T00:00:0${at}Z`,
    };
    const failures = { parkAfter: scene.parkAfter, runParked };
    ledger.tell(change);
    const wasListed = tables.second(change) !== undefined;
    try {
      const work = (context: StoreContext<undefined>) => {
        const isParked = ledger.failuresOf(key) >= (scene.parkAfter ?? Number.POSITIVE_INFINITY);
        assert.ok(runParked || !isParked, 'a parked change runs');
        return this.#work(actor, change, context);
      };
      const { outcome, error } = await plain.process({ key, payment, failures }, work);
      if (error !== undefined) throw error;
      if (outcome === 'busy') return 'busy';
      const isListed = !wasListed && tables.second(change) !== undefined;
      assert.ok(outcome === 'processed' || !isListed, 'a duplicate lists a second payment');
    } catch (error) {
      if (error instanceof WorkError) return 'failed';
      throw error;
    }
    ledger.acknowledged.add(key);
    return 'acknowledged';
  }

  async #work(
    actor: string,
    change: Told,
    { current, secondPayment, order }: StoreContext<undefined>,
  ): Promise<void> {
    const { turns, ledger, scene } = this.#world;
    assert.equal(ledger.working, undefined, 'one change of an order at a time');
    assert.equal(order, REFERENCE, 'the work is told another order');
    this.#checkContext(change, current, secondPayment);
    const failures = ledger.failuresOf(change.key);
    ledger.working = change.key;
    turns.note(actor, [current, secondPayment]);
    const did = await turns.step(actor, () =>
      this.#failures < (scene.failures ?? 0) ? ['works', 'throws'] : ['works'],
    );
    ledger.working = undefined;
    if (did === 'throws') {
      this.#failures += 1;
      ledger.fail(change.key, failures + 1);
      throw new WorkError();
    }
    if (!ledger.isForgotten) assert.ok(!ledger.isDone(change.key), 'done twice');
    ledger.done.push(change);
    if (current) ledger.shown = change;
  }

  #checkContext(change: Told, current: boolean, secondPayment: boolean | undefined): void {
    const { ledger, tables } = this.#world;
    if (ledger.isForgotten) return;
    const { firstPaid } = ledger;
    const isOther = firstPaid !== undefined && firstPaid !== change.number;
    if (isOther) assert.ok(!current, 'current, although another payment has paid the order');
    const isAlone = ledger.numbersOf(change.reference).size === 1;
    const isStale = ({ status, at }: Told) => status === 'paid' && at === change.at;
    if (!isPaid(change) && isAlone && ledger.toldOf(change.number).some(isStale)) {
      assert.ok(!current, 'current, although it is paid at the same instant');
    }
    const row = tables.row(change.reference);
    const isReplaced = row?.replacedBy !== undefined && firstPaid === undefined;
    assert.ok(!isReplaced || !current, 'current, although another attempt stands in its place');
    const isBesides = row?.state !== 'elsewhere' && row?.referenceNumber !== change.number;
    if ((isOther && isPaid(change)) || isBesides) {
      assert.ok(secondPayment, 'the work is not told of a second payment');
    }
    if (!isOther && !isBesides && isAlone) {
      assert.ok(!secondPayment, 'the work is told of a second payment, and there is one');
    }
  }
}

class WorkError extends Error {}
