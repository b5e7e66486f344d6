import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { CallbackStore, StatusChange } from '../../../src/store/callback-store.js';
import type { CallbackStoreUnderTest } from '../store.js';
import { createPayment } from './changes.js';
import { Delivery } from './delivery.js';

// Short, as a case waits for three of them; long enough for a loaded machine.
const shortLeaseMs = 2_000;

/** What a case about callbacks works with: a store, and every delivery that the case started. */
export class CallbackStage {
  readonly #store: CallbackStoreUnderTest;
  readonly #deliveries: Delivery[] = [];

  constructor(store: CallbackStoreUnderTest) {
    this.#store = store;
  }

  /** Opens a store without a client over the data, as another process would. */
  async open(): Promise<CallbackStore<unknown>> {
    return this.#store.create({});
  }

  /** Opens two stores over the data, and creates a payment with its first change. */
  async scene() {
    return this.#scene(() => this.open());
  }

  /** Like {@link scene}, with stores that soon renew their claims, if claims expire there. */
  async sceneWithShortLease() {
    return this.#scene(async () => this.#store.withLease?.(shortLeaseMs) ?? this.open());
  }

  /** Starts a delivery whose work runs until {@link Delivery.complete} or {@link Delivery.fail}. */
  hold(store: CallbackStore<unknown>, change: StatusChange): Delivery {
    const delivery = new Delivery(store, change);
    this.#deliveries.push(delivery);
    return delivery;
  }

  /** Like {@link hold}, and waits until the work runs. */
  async begin(store: CallbackStore<unknown>, change: StatusChange): Promise<Delivery> {
    const delivery = this.hold(store, change);
    await delivery.begun();
    return delivery;
  }

  /** Starts a delivery whose work completes at once. */
  deliver(store: CallbackStore<unknown>, change: StatusChange): Delivery {
    const delivery = this.hold(store, change);
    delivery.complete();
    return delivery;
  }

  /** Starts a delivery whose work fails at once. */
  deliverFailing(store: CallbackStore<unknown>, change: StatusChange, error?: unknown): Delivery {
    const delivery = this.hold(store, change);
    delivery.fail(error);
    return delivery;
  }

  /** Makes the store treat the holder of this change's claim as dead. */
  async loseClaim(change: StatusChange): Promise<void> {
    await this.#store.loseClaim?.(change);
  }

  /** Sleeps for the lifetime of a short claim that is not renewed. */
  async letLeasePass(): Promise<void> {
    await sleep(shortLeaseMs);
  }

  /**
   * Gives the deliveries started so far time to run or to start waiting: the time that the store takes for
   * three deliveries of other orders. A delivery that waits can't be told from a slow one, so this
   * replaces a sleep.
   */
  async pause(): Promise<void> {
    const store = await this.open();
    for (let round = 0; round < 3; round += 1) {
      await nextTurn();
      // On a single connection, they would wait for the delivery that is held.
      if (this.#store.concurrent !== false) await this.deliver(store, createPayment()()).settled;
    }
  }

  /** Starts a delivery that must wait for the one being processed, or be answered `busy`. */
  async deliverHeldOff(store: CallbackStore<unknown>, change: StatusChange): Promise<Delivery> {
    const delivery = this.deliver(store, { ...change });
    await this.pause();
    delivery.assertHeldOff();
    return delivery;
  }

  /** Completes all work that is still held, and waits until every call has settled. */
  async end(): Promise<void> {
    for (const delivery of this.#deliveries) delivery.complete();
    await Promise.all(this.#deliveries.map(({ settled }) => settled));
  }

  async #scene(open: () => Promise<CallbackStore<unknown>>) {
    const change = createPayment();
    return { one: await open(), other: await open(), change, event: change() };
  }
}

/** Makes a test of a case. */
export type It<Scene> = (name: string, run: (stage: Scene) => Promise<void>) => void;
