import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { CallbackInbox, InboxEvent } from '../inbox.js';
import { Delivery } from './delivery.js';
import { createPayment } from './payment.js';
import type { InboxContractSubject } from './subject.js';

/** What a case plays on: a store, and every delivery the case started. */
export class Stage {
  readonly #subject: InboxContractSubject<unknown>;
  readonly #concurrent: boolean;
  readonly #deliveries: Delivery[] = [];

  constructor(subject: InboxContractSubject<unknown>, { concurrent }: { concurrent: boolean }) {
    this.#subject = subject;
    this.#concurrent = concurrent;
  }

  /** An inbox over the store, as one more process has it. */
  async open(): Promise<CallbackInbox<unknown>> {
    return this.#subject.create();
  }

  /** Starts a delivery whose work goes on until it is told to end. */
  hold(inbox: CallbackInbox<unknown>, event: InboxEvent): Delivery {
    const delivery = new Delivery(inbox, event);
    this.#deliveries.push(delivery);
    return delivery;
  }

  /** The same, and waits until the work runs. */
  async begin(inbox: CallbackInbox<unknown>, event: InboxEvent): Promise<Delivery> {
    const delivery = this.hold(inbox, event);
    await delivery.begun();
    return delivery;
  }

  /** Starts a delivery whose work completes at once. */
  deliver(inbox: CallbackInbox<unknown>, event: InboxEvent): Delivery {
    const delivery = this.hold(inbox, event);
    delivery.complete();
    return delivery;
  }

  /** Starts a delivery whose work fails at once. */
  deliverFailing(inbox: CallbackInbox<unknown>, event: InboxEvent, error?: unknown): Delivery {
    const delivery = this.hold(inbox, event);
    delivery.fail(error);
    return delivery;
  }

  /** Makes the store take the holder of this event's claim for dead. */
  async loseClaim(event: InboxEvent): Promise<void> {
    await this.#subject.loseClaim?.(event);
  }

  /** Sleeps for as long as a claim lives without being renewed. */
  async letLeasePass(): Promise<void> {
    await sleep(this.#subject.leaseMs);
  }

  /**
   * Lets what was started before come as far as it comes by itself: as far as the store gets with
   * three deliveries of other payments. There is no telling a delivery that waits from a slow one;
   * this takes the place of a sleep.
   */
  async pause(): Promise<void> {
    const inbox = await this.open();
    for (let round = 0; round < 3; round += 1) {
      await nextTurn();
      // With a single connection they would wait for the very delivery that is held.
      if (this.#concurrent) await this.deliver(inbox, createPayment()()).settled;
    }
  }

  /** Lets all work end that is still held, and waits until no call is under way. */
  async end(): Promise<void> {
    for (const delivery of this.#deliveries) delivery.complete();
    await Promise.all(this.#deliveries.map(({ settled }) => settled));
  }
}
