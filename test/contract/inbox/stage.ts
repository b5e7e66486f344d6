import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { assert, expect } from 'vitest';
import type {
  ChangeId,
  FailedChange,
  FailedChangeStore,
  FailedChangesOptions,
} from '../../../src/store/failed-changes.js';
import type {
  CallbackInbox,
  InboxContext,
  InboxEvent,
  InboxOutcome,
} from '../../../src/store/inbox.js';
import { createGate } from '../gate.js';
import type { InboxUnderTest } from '../inbox.js';

/** What a case works with: a store, and every delivery that the case started. */
export class Stage {
  readonly #store: InboxUnderTest;
  readonly #deliveries: Delivery[] = [];

  constructor(store: InboxUnderTest) {
    this.#store = store;
  }

  /** Opens an inbox over the store, as another process would. */
  async open(): Promise<CallbackInbox<unknown>> {
    return this.#store.create();
  }

  /** Opens two inboxes over the store, and creates a payment with its first change. */
  async scene() {
    const change = createPayment();
    return { one: await this.open(), other: await this.open(), change, event: change() };
  }

  /** Starts a delivery whose work runs until {@link Delivery.complete} or {@link Delivery.fail}. */
  hold(inbox: CallbackInbox<unknown>, event: InboxEvent): Delivery {
    const delivery = new Delivery(inbox, event);
    this.#deliveries.push(delivery);
    return delivery;
  }

  /** Like {@link hold}, and waits until the work runs. */
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

  /** The failed changes that the inbox lists. */
  async failedChanges(options?: FailedChangesOptions): Promise<AsyncIterable<FailedChange>> {
    return (await this.#openKeeping()).failedChanges(options);
  }

  /** Forgets the failures of a change. */
  async discard({ key, paymentReference }: ChangeId): Promise<boolean> {
    return (await this.#openKeeping()).discard({ key, paymentReference });
  }

  async #openKeeping(): Promise<FailedChangeStore> {
    const inbox = await this.open();
    const { failedChanges, discard } = inbox;
    assert(failedChanges !== undefined && discard !== undefined);
    return {
      failedChanges: (options) => failedChanges.call(inbox, options),
      discard: (change) => discard.call(inbox, change),
    };
  }

  /** Makes the store treat the holder of this event's claim as dead. */
  async loseClaim(event: InboxEvent): Promise<void> {
    await this.#store.loseClaim?.(event);
  }

  /** Sleeps for the lifetime of a claim that is not renewed. */
  async letLeasePass(): Promise<void> {
    await sleep(this.#store.leaseMs);
  }

  /**
   * Gives the deliveries started so far time to run or to start waiting: the time that the store takes for
   * three deliveries of other payments. A delivery that waits can't be told from a slow one, so this
   * replaces a sleep.
   */
  async pause(): Promise<void> {
    const inbox = await this.open();
    for (let round = 0; round < 3; round += 1) {
      await nextTurn();
      // On a single connection, they would wait for the delivery that is held.
      if (this.#store.concurrent !== false) await this.deliver(inbox, createPayment()()).settled;
    }
  }

  /** Starts a delivery that must wait for the one being processed, or be answered `busy`. */
  async deliverHeldOff(inbox: CallbackInbox<unknown>, event: InboxEvent): Promise<Delivery> {
    const delivery = this.deliver(inbox, { ...event });
    await this.pause();
    delivery.assertHeldOff();
    return delivery;
  }

  /** Completes all work that is still held, and waits until every call has settled. */
  async end(): Promise<void> {
    for (const delivery of this.#deliveries) delivery.complete();
    await Promise.all(this.#deliveries.map(({ settled }) => settled));
  }
}

/** One call of `process`, with its work. */
export class Delivery {
  /** How often the work was started. */
  runs = 0;
  /** The answer of `process`. Undefined until it has answered, and if it rejected. */
  answer: InboxOutcome | undefined;
  /** The argument of the work. Undefined until the work has started. */
  context: InboxContext<unknown> | undefined;
  /** Resolves when the call has settled, either way. Never rejects. */
  readonly settled: Promise<void>;

  readonly #outcome: Promise<InboxOutcome>;
  readonly #begun = createGate<InboxContext<unknown>>();
  readonly #end = createGate<void>();

  /** Calls `process` synchronously. The work runs until {@link complete} or {@link fail}. */
  constructor(inbox: CallbackInbox<unknown>, event: InboxEvent) {
    // Avoids an unhandled rejection if the work never runs.
    this.#end.promise.catch(() => undefined);
    this.#outcome = this.#process(inbox, event);
    this.settled = this.#outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  /** Waits until the work runs. */
  async begun(): Promise<InboxContext<unknown>> {
    const ended = this.#outcome.then((outcome) => {
      throw new Error(`process answered '${outcome}' without running the work`);
    });
    return Promise.race([this.#begun.promise, ended]);
  }

  /** Makes the work complete, now or once it starts. */
  complete(): void {
    this.#end.open();
  }

  /** Makes the work fail, now or once it starts. */
  fail(error: unknown = new Error('The work failed, as this case intends')): void {
    this.#end.break(error);
  }

  /** Waits for the answer. It must be one of these, and the work must have run only for `processed`. */
  async answers(...expected: readonly InboxOutcome[]): Promise<InboxOutcome> {
    const outcome = await this.#outcome;
    expect(outcome).toBeOneOf([...expected]);
    const runs = outcome === 'processed' ? 1 : 0;
    expect(this.runs).toBe(runs);
    return outcome;
  }

  /** Waits for the answer. It must be `processed`, and the work must have run with this `stale`. */
  async runsWith({ stale }: { stale: boolean }): Promise<void> {
    await this.answers('processed');
    expect(this.context?.stale).toBe(stale);
  }

  /** Resolves with the error with which `process` rejects. */
  async rejects(): Promise<unknown> {
    let outcome: InboxOutcome;
    try {
      outcome = await this.#outcome;
    } catch (error) {
      return error;
    }
    throw new Error(`process answered '${outcome}' and did not reject`);
  }

  /** Asserts that there is no answer yet, or that it is `busy`. */
  assertHeldOff(): void {
    expect(this.runs).toBe(0);
    expect(this.answer).toBeOneOf([undefined, 'busy']);
  }

  async #process(inbox: CallbackInbox<unknown>, event: InboxEvent): Promise<InboxOutcome> {
    const outcome = await inbox.process(event, async (context) => {
      this.runs += 1;
      this.context = context;
      this.#begun.open(context);
      await this.#end.promise;
    });
    this.answer = outcome;
    return outcome;
  }
}

// A present-day time: in microseconds it has sixteen digits, which a store must not round.
const START_MS = Date.UTC(2026, 2, 1, 12, 0, 0, 123);

/** The time `count` seconds after the default time of changes. */
export function seconds(count: number): Date {
  return new Date(START_MS + count * 1000);
}

/** Creates changes of one payment, which no other case uses. */
export type Payment = (change?: Partial<InboxEvent>) => InboxEvent;

export function createPayment(paymentReference: string = randomUUID()): Payment {
  return (change) => ({
    key: randomUUID(),
    paymentReference,
    occurredAt: seconds(0),
    processStale: false,
    ...change,
  });
}

/** Makes a test of a case. */
export type It = (name: string, run: (stage: Stage) => Promise<void>) => void;
