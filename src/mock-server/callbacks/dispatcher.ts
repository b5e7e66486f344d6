import type { KeyObject } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { SignatureEncoding, TimestampUnit } from '../../protocol/wire.js';
import type { FaultList } from '../faults/fault-list.js';
import type { CheckedCallbackFault } from '../faults/fault-rules.js';
import type { MockClock, MockTimer } from '../state/clock.js';
import type { EventLog } from '../state/event-log.js';
import { type MockPayment, type PaymentBook, toStatusRecord } from '../state/payments.js';
import type { SeededIds } from '../state/seeded-ids.js';
import { type CallbackMessage, createCallbackMessage, SIGNED_AT_MS } from './callback-message.js';
import type { CallbackSender, PostResult } from './deliver.js';
import type {
  CallbackEdit,
  Delivery,
  DeliveryAttempt,
  DeliveryState,
  EditableDelivery,
} from './delivery.js';
import { RecentDeliveries } from './recent-deliveries.js';
import { isParked, type LiveDelivery, ParkedDelivery, RetryQueue } from './waiting-deliveries.js';

interface DispatcherOptions {
  readonly clock: MockClock;
  readonly ids: SeededIds;
  readonly faults: FaultList;
  readonly payments: PaymentBook;
  readonly log: EventLog<DeliveryAttempt>;
  readonly sender: CallbackSender;
  readonly signingKey: KeyObject;
  readonly signatureEncoding: SignatureEncoding;
  readonly timestampUnit: TimestampUnit;
  readonly retryScheduleMs: readonly number[];
  readonly retrySigning: 'fresh' | 'original';
  /** Called with each attempt that has ended. */
  readonly onAttempt: (attempt: DeliveryAttempt) => void;
  /** Called with a delivery that changed its state. */
  readonly onDelivery: (delivery: Delivery) => void;
}

/** An attempt with its copies. The last to end decides the delivery's state. */
interface AttemptGroup {
  readonly delivery: LiveDelivery;
  readonly attempt: number;
  readonly message: CallbackMessage;
  readonly fault: CheckedCallbackFault | undefined;
  unfinished: number;
  acknowledged: boolean;
}

interface Dispatch {
  readonly payment: MockPayment;
  readonly url: string | undefined;
  readonly fault?: CheckedCallbackFault | undefined;
  /** Its attempts take no fault. */
  readonly edit?: CallbackEdit | undefined;
}

/** Delivers callbacks: first attempts, retries until 2xx, duplicates, reordered ones (interface section 6). */
export class CallbackDispatcher {
  readonly #options: DispatcherOptions;
  /** Of recent deliveries, by id. A parked delivery holds its timer itself. */
  readonly #retries = new Map<string, MockTimer>();
  /** By payment, oldest first. */
  readonly #held = new Map<string, LiveDelivery[]>();
  readonly #recent = new RecentDeliveries();
  /** By id: held, being sent, waiting for a retry. */
  readonly #unfinished = new Map<string, LiveDelivery | ParkedDelivery>();
  /** By the number of the next attempt. */
  readonly #queues = new Map<number, RetryQueue>();
  /** Deliveries with attempts in the log, by id. */
  readonly #logged = new Map<string, LiveDelivery>();
  #whenIdle: (() => void)[] = [];
  // What started before a reset must have no effect after it.
  #generation = 0;
  #sending = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Settles when the first attempt, its copies and the deliveries it releases have ended. Never rejects. */
  async send({ payment, url, fault: given, edit }: Dispatch): Promise<Delivery> {
    const { ids } = this.#options;
    const delivery: LiveDelivery = {
      id: ids.next('delivery'),
      referenceNumber: payment.referenceNumber,
      status: payment.status,
      payment,
      state: url === undefined ? 'not-configured' : 'sending',
      url: url ?? '',
      attempts: [],
      ...(edit !== undefined && { edit }),
    };
    const generation = this.#generation;
    const forgotten = this.#recent.add(delivery);
    if (forgotten !== undefined) this.#park(forgotten);
    if (url !== undefined) this.#unfinished.set(delivery.id, delivery);
    this.#options.onDelivery(delivery);
    // A listener may have reset the service.
    if (url === undefined || generation !== this.#generation) return delivery;
    const fault = given ?? this.#takeFault(delivery, 1, true);
    if (fault?.type === 'reorder') {
      this.#hold(delivery);
      return delivery;
    }
    await this.#attempt(delivery, 1, fault);
    await this.#releaseHeld(payment.referenceNumber);
    return delivery;
  }

  /** Finds a delivery, among the last 10,000, by its id or that of an attempt. */
  get(id: string): Delivery | undefined {
    const attempt = this.#options.log.events.find((one) => one.id === id);
    return this.#recent.get(attempt?.deliveryId ?? id);
  }

  /** The last 10,000 deliveries, oldest first. */
  recent(): readonly EditableDelivery[] {
    return this.#recent.list();
  }

  /** When an attempt was signed, in epoch milliseconds, before a fault shifted the timestamp. */
  signedAtMs(attempt: DeliveryAttempt): number | undefined {
    return (attempt as DeliveryAttempt & Partial<CallbackMessage>)[SIGNED_AT_MS];
  }

  /** The deliveries of a payment among the last 10,000, oldest first. */
  list(referenceNumber: string): Delivery[] {
    return this.#recent.list().filter((one) => one.referenceNumber === referenceNumber);
  }

  /** Settles when no attempt is under way. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#reportIdle();
    });
  }

  #reportIdle(): void {
    if (this.#sending > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Removes an attempt that the log dropped from its delivery, whose oldest it is. */
  forget(attempt: DeliveryAttempt): void {
    const delivery = this.#logged.get(attempt.deliveryId);
    if (delivery === undefined) return;
    delivery.attempts = delivery.attempts.slice(1);
    if (delivery.attempts.length === 0) this.#logged.delete(attempt.deliveryId);
  }

  /** Says what is pending, for the message of a wait that timed out. */
  describePending(): string[] {
    const held = this.#listHeld().length;
    const parked = [...this.#unfinished.values()].filter(isParked).length;
    const waiting = this.#retries.size + parked;
    const lines: string[] = [];
    if (this.#sending > 0) lines.push(`${this.#sending} under way`);
    if (held > 0) lines.push(`${held} held by a reorder fault until the payment's next change`);
    if (waiting > 0) lines.push(`${waiting} waiting for a retry on the service's clock`);
    return lines;
  }

  /** Cancels retries, forgets held deliveries, aborts attempts under way. */
  cancel(): void {
    this.#generation += 1;
    for (const timer of this.#retries.values()) timer.cancel();
    // Reported here, since later results are ignored.
    for (const [id, unfinished] of this.#unfinished) {
      if (isParked(unfinished)) unfinished.retry?.cancel();
      const delivery = this.#unpark(id, unfinished);
      if (delivery !== undefined) this.#move(delivery, 'cancelled');
    }
    this.#unfinished.clear();
    this.#retries.clear();
    this.#queues.clear();
    this.#held.clear();
    this.#recent.clear();
    this.#logged.clear();
    this.#options.sender.abort();
  }

  #park(delivery: LiveDelivery): void {
    const { id, payment, state } = delivery;
    if (state !== 'retrying' || this.#recent.has(id)) return;
    const past = this.#options.payments.remember(payment);
    this.#unfinished.set(id, new ParkedDelivery(delivery, past, this.#retries.get(id)));
    this.#retries.delete(id);
  }

  #hold(delivery: LiveDelivery): void {
    this.#move(delivery, 'held');
    const others = this.#held.get(delivery.referenceNumber) ?? [];
    this.#held.set(delivery.referenceNumber, [...others, delivery]);
  }

  #listHeld(): LiveDelivery[] {
    return [...this.#held.values()].flat();
  }

  async #releaseHeld(referenceNumber: string): Promise<void> {
    const held = this.#held.get(referenceNumber) ?? [];
    this.#held.delete(referenceNumber);
    const generation = this.#generation;
    for (const delivery of held.reverse()) {
      if (generation !== this.#generation) return;
      this.#move(delivery, 'sending');
      await this.#attempt(delivery, 1, this.#takeFault(delivery, 1));
    }
  }

  #takeFault(
    delivery: LiveDelivery,
    attempt: number,
    canHold = false,
  ): CheckedCallbackFault | undefined {
    if (delivery.edit !== undefined) return undefined;
    return this.#options.faults.takeForCallback(toFacts(delivery, attempt), canHold);
  }

  async #attempt(
    delivery: LiveDelivery,
    attempt: number,
    fault: CheckedCallbackFault | undefined,
  ): Promise<void> {
    if (fault?.type !== 'late-callback') return this.#attemptNow(delivery, attempt, fault);
    this.#move(delivery, 'retrying');
    const { id } = delivery;
    this.#schedule(delivery, fault.delayMs, () => this.#retry(id, attempt, fault));
  }

  #schedule(delivery: LiveDelivery, delayMs: number, retry: () => unknown): void {
    this.#retries.set(delivery.id, this.#options.clock.setTimeout(retry, delayMs));
    this.#park(delivery);
  }

  #retriesOf(attempt: number): RetryQueue {
    const known = this.#queues.get(attempt);
    if (known !== undefined) return known;
    const queue = new RetryQueue((id) => this.#retry(id, attempt));
    this.#queues.set(attempt, queue);
    return queue;
  }

  #unpark(id: string, delivery: LiveDelivery | ParkedDelivery): LiveDelivery | undefined {
    if (!isParked(delivery)) return delivery;
    const known = delivery.deref();
    if (known !== undefined) return known;
    const payment = this.#options.payments.recall(delivery);
    if (payment === undefined) return undefined;
    const { url, edit, firstSignedAtMs } = delivery;
    return {
      id,
      referenceNumber: payment.referenceNumber,
      status: payment.status,
      payment,
      state: 'retrying',
      url,
      attempts: [],
      ...(edit !== undefined && { edit }),
      ...(firstSignedAtMs !== undefined && { firstSignedAtMs }),
    };
  }

  // Returns the attempt's promise, so that a manual clock waits for it.
  #retry(id: string, attempt: number, late?: CheckedCallbackFault): unknown {
    this.#retries.delete(id);
    const unfinished = this.#unfinished.get(id);
    const delivery = unfinished && this.#unpark(id, unfinished);
    if (delivery === undefined) return undefined;
    this.#unfinished.set(id, delivery);
    this.#move(delivery, 'sending');
    return late === undefined
      ? this.#attempt(delivery, attempt, this.#takeFault(delivery, attempt))
      : this.#attemptNow(delivery, attempt, late);
  }

  async #attemptNow(
    delivery: LiveDelivery,
    attempt: number,
    fault: CheckedCallbackFault | undefined,
  ): Promise<void> {
    const copies = fault?.type === 'duplicate' ? fault.copies : 0;
    const group: AttemptGroup = {
      delivery,
      attempt,
      message: this.#write(delivery, fault),
      fault,
      unfinished: copies + 1,
      acknowledged: false,
    };
    const generation = this.#generation;
    if (fault?.type === 'duplicate' && fault.mode === 'at-once') {
      const all = Array.from({ length: copies + 1 }, (_, copy) => this.#transmit(group, copy));
      await Promise.all(all);
      return;
    }
    for (let copy = 0; copy <= copies && generation === this.#generation; copy += 1) {
      await this.#transmit(group, copy);
    }
  }

  #write(delivery: LiveDelivery, fault: CheckedCallbackFault | undefined): CallbackMessage {
    const { clock, signingKey, signatureEncoding, timestampUnit, retrySigning } = this.#options;
    const signedAtMs = clock.signingTime?.() ?? clock.now();
    if (retrySigning === 'original') delivery.firstSignedAtMs ??= signedAtMs;
    return createCallbackMessage({
      record: toStatusRecord(delivery.payment),
      signedAtMs: delivery.firstSignedAtMs ?? signedAtMs,
      key: signingKey,
      encoding: signatureEncoding,
      unit: timestampUnit,
      fault,
      edit: delivery.edit,
    });
  }

  async #transmit(group: AttemptGroup, copy: number): Promise<void> {
    const { clock, ids, log, onAttempt } = this.#options;
    const { delivery, attempt, message, fault } = group;
    const generation = this.#generation;
    const id = ids.next('delivery');
    // In this order sentAt + latencyMs is never before the end, even if the process stalls between the two.
    const startedMs = performance.now();
    const sentAt = new Date(clock.now());
    const result = await this.#post(group);
    if (generation !== this.#generation) return;
    group.unfinished -= 1;
    group.acknowledged ||= result.outcome === 'acknowledged';
    const entry: DeliveryAttempt = Object.freeze({
      id,
      deliveryId: delivery.id,
      referenceNumber: delivery.referenceNumber,
      merchantPaymentReference: delivery.payment.merchantPaymentReference,
      status: delivery.status,
      attempt,
      copy,
      url: delivery.url,
      sentAt,
      ...message,
      ...result,
      latencyMs: performance.now() - startedMs,
      ...(fault !== undefined && { fault: fault.type }),
      ...(group.unfinished === 0 && this.#conclude(group)),
    });
    // push() would reserve room for 17.
    delivery.attempts = [...delivery.attempts, entry];
    this.#logged.set(delivery.id, delivery);
    log.push(entry);
    onAttempt(entry);
    if (group.unfinished === 0) this.#options.onDelivery(delivery);
  }

  #move(delivery: LiveDelivery, state: DeliveryState): void {
    delivery.state = state;
    this.#options.onDelivery(delivery);
  }

  async #post({
    delivery,
    message,
    fault,
  }: AttemptGroup): Promise<PostResult | { readonly outcome: 'dropped' }> {
    if (fault?.type === 'drop') return { outcome: 'dropped' };
    this.#sending += 1;
    const { headers, rawBody } = message;
    const result = await this.#options.sender.post({ url: delivery.url, headers, body: rawBody });
    this.#sending -= 1;
    if (this.#sending === 0) {
      // After the attempt's result is recorded and its retry is set.
      setImmediate(() => this.#reportIdle());
    }
    return result;
  }

  // Before the attempt is logged: a test that waits for it may advance the clock next.
  #conclude(group: AttemptGroup): { nextRetryAt?: Date } {
    const { delivery, attempt, acknowledged } = group;
    const delayMs = this.#options.retryScheduleMs[attempt - 1];
    if (acknowledged || delayMs === undefined) {
      delivery.state = acknowledged ? 'acknowledged' : 'given-up';
      this.#unfinished.delete(delivery.id);
      return {};
    }
    delivery.state = 'retrying';
    const queue = this.#retriesOf(attempt + 1);
    queue.add(delivery.id);
    this.#schedule(delivery, delayMs, queue.runFirst);
    return { nextRetryAt: new Date(this.#options.clock.now() + delayMs) };
  }
}

function toFacts(delivery: LiveDelivery, attempt: number) {
  const { merchantPaymentReference } = delivery.payment;
  const { referenceNumber, status } = delivery;
  return { referenceNumber, merchantPaymentReference, status, attempt };
}
