import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createGate } from '../../storage/contract/gate.js';
import type { ContractCase as AnyContractCase } from '../../storage/contract/guard.js';
import type {
  ChangeId,
  FailedChange,
  FailedChangeStore,
  FailedChangesOptions,
} from '../failed-changes.js';
import type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';
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

  /** Two inboxes over the store, and changes of a payment, one of which is made already. */
  async scene() {
    const change = createPayment();
    return { one: await this.open(), other: await this.open(), change, event: change() };
  }

  /** Starts a delivery whose work goes on until {@link Delivery.complete} or {@link Delivery.fail}. */
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

  /** The failed changes that the inbox lists. */
  async failedChanges(options: FailedChangesOptions): Promise<AsyncIterable<FailedChange>> {
    return (await this.#openKeeping()).failedChanges(options);
  }

  /** Forgets the failures of a change. */
  async discard({ key, paymentReference }: ChangeId): Promise<boolean> {
    return (await this.#openKeeping()).discard({ key, paymentReference });
  }

  async #openKeeping(): Promise<FailedChangeStore> {
    const inbox = await this.open();
    const { failedChanges, discard } = inbox;
    assert.ok(
      failedChanges !== undefined && discard !== undefined,
      'an inbox that keeps failures must have failedChanges and discard',
    );
    return {
      failedChanges: (options) => failedChanges.call(inbox, options),
      discard: (change) => discard.call(inbox, change),
    };
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

  /** Starts a delivery that must wait for the one that is being processed, or be answered busy. */
  async deliverHeldOff(inbox: CallbackInbox<unknown>, event: InboxEvent): Promise<Delivery> {
    const delivery = this.deliver(inbox, { ...event });
    await this.pause();
    delivery.assertHeldOff();
    return delivery;
  }

  /** Lets all work end that is still held, and waits until no call is under way. */
  async end(): Promise<void> {
    for (const delivery of this.#deliveries) delivery.complete();
    await Promise.all(this.#deliveries.map(({ settled }) => settled));
  }
}

/** One call of `process`, with the work it was given. */
export class Delivery {
  /** How often the work was begun. */
  runs = 0;
  /** What `process` answered. Undefined as long as it has not, and when it rejected. */
  answer: InboxOutcome | undefined;
  /** What the work was given, once it was begun. */
  context: InboxContext<unknown> | undefined;
  /** When the call has ended, either way. Never rejects. */
  readonly settled: Promise<void>;

  readonly #outcome: Promise<InboxOutcome>;
  readonly #begun = createGate<InboxContext<unknown>>();
  readonly #end = createGate<void>();

  /** Calls `process` before it returns. The work goes on until {@link complete} or {@link fail}. */
  constructor(inbox: CallbackInbox<unknown>, event: InboxEvent) {
    // Handled here too: work that no longer runs may be made to fail.
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
      assert.fail(`the work must run, but process answered '${outcome}' without running it`);
    });
    return Promise.race([this.#begun.promise, ended]);
  }

  /** Lets the work complete, now or when it is begun. */
  complete(): void {
    this.#end.open();
  }

  /** Lets the work fail, now or when it is begun. */
  fail(error: unknown = new Error('The work failed, as this case wants it to')): void {
    this.#end.break(error);
  }

  /** Waits for the answer, which must be one of these, with the work run just when it says so. */
  async answers(...expected: readonly InboxOutcome[]): Promise<InboxOutcome> {
    const outcome = await this.#outcome;
    if (!expected.includes(outcome)) {
      const wanted = expected.map((one) => `'${one}'`).join(' or ');
      assert.fail(`process must answer ${wanted}, but answered '${outcome}'`);
    }
    const runs = outcome === 'processed' ? 1 : 0;
    assert.equal(
      this.runs,
      runs,
      `process answered '${outcome}' and ran the work ${this.runs} times`,
    );
    return outcome;
  }

  /** Waits for the answer, which must be `processed`, with the work run under this `stale`. */
  async runsWith({ stale }: { stale: boolean }): Promise<void> {
    await this.answers('processed');
    const why = stale ? 'a newer change was processed before' : 'no newer change was processed';
    assert.equal(this.context?.stale, stale, `context.stale must be ${stale}: ${why}`);
  }

  /** Waits for the error with which `process` rejects. */
  async rejects(): Promise<unknown> {
    let outcome: InboxOutcome;
    try {
      outcome = await this.#outcome;
    } catch (error) {
      return error;
    }
    return assert.fail(`process must reject, but answered '${outcome}'`);
  }

  /** Whether the answer is still to come, or says that the payment is being processed. */
  assertHeldOff(): void {
    assert.equal(this.runs, 0, 'the work ran beside other work for the same payment');
    assert.ok(
      this.answer === undefined || this.answer === 'busy',
      `process answered '${this.answer}' before the work for the same payment had ended: only 'busy' is known by then`,
    );
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

// Of today's magnitude: in microseconds it has sixteen digits, which a store must not round.
const START_MS = Date.UTC(2026, 2, 1, 12, 0, 0, 123);

/** So many seconds after the time at which changes happen that say nothing else. */
export function seconds(count: number): Date {
  return new Date(START_MS + count * 1000);
}

/** Makes changes of one payment, which no other case has. */
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

/** What not every store can do. */
export type Need =
  | 'loseClaim'
  | 'concurrent'
  | 'leaseMs'
  | 'waitMs'
  | 'keepsFailures'
  | 'keepsBodies';

/** A case before it has a store. */
export type ContractCase = AnyContractCase<Stage, Need>;

export const test = (name: string, run: ContractCase['run']): ContractCase => ({ name, run });

/** Cases for the stores that can do this. */
export const needing = (needs: Need, cases: readonly ContractCase[]): readonly ContractCase[] =>
  cases.map((one) => ({ ...one, needs }));
