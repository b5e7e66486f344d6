import type { KeyObject } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { timers } from '../../protocol/timers.js';
import type { CheckedCallbackFault, FaultList } from '../faults/fault-list.js';
import type { ResolvedServiceOptions } from '../options.js';
import { type Cap, type EventLog, NewestEntries } from '../state/cap.js';
import type { ServiceTimer } from '../state/clock.js';
import { type MockPayment, toStatusRecord } from '../state/payments.js';
import type { SeededIds } from '../state/seeded-ids.js';
import { type CallbackMessage, createCallbackMessage } from './callback-message.js';
import { CallbackSender, type PostResult } from './deliver.js';
import type {
  CallbackEdit,
  Delivery,
  DeliveryAttempt,
  DeliveryState,
  EditableDelivery,
} from './delivery.js';
import { createSigningKey } from './sign.js';

interface DispatcherOptions {
  readonly settings: ResolvedServiceOptions;
  readonly signingSecret: string;
  /** The merchant's callback URL at this moment: an attempt goes to the one that is set when it starts. */
  readonly getUrl: () => string | undefined;
  readonly cap: Cap;
  readonly ids: SeededIds;
  readonly faults: FaultList;
  readonly log: EventLog<DeliveryAttempt>;
  /** Called with each attempt that has ended. */
  readonly onAttempt: (attempt: DeliveryAttempt) => void;
  /** Called with a delivery that changed its state. */
  readonly onDelivery: (delivery: Delivery) => void;
}

/** A delivery while it changes, with what its next attempts need. */
interface LiveDelivery extends EditableDelivery {
  url: string;
  attempts: readonly DeliveryAttempt[];
  state: DeliveryState;
  /** When the first attempt was signed, in epoch milliseconds, if retries repeat its signature. */
  firstSignedAtMs?: number;
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
  readonly fault?: CheckedCallbackFault | undefined;
  /** Its attempts take no fault. */
  readonly edit?: CallbackEdit | undefined;
}

/** Delivers callbacks: first attempts, retries until 2xx, duplicates, reordered ones (interface section 6). */
export class CallbackDispatcher {
  readonly #options: DispatcherOptions;
  readonly #sender: CallbackSender;
  readonly #signingKey: KeyObject;
  readonly #newest: NewestEntries<LiveDelivery>;
  /** Held, being sent, or waiting for a retry; older ones too. With the timer of what they wait for. */
  readonly #unfinished = new Map<LiveDelivery, ServiceTimer | undefined>();
  /** Those that are held, oldest first. */
  #held: readonly LiveDelivery[] = [];
  #whenIdle: (() => void)[] = [];
  // What started before a reset must have no effect after it.
  #generation = 0;
  #sending = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#sender = new CallbackSender({ timeoutMs: options.settings.callbackTimeoutMs });
    this.#signingKey = createSigningKey('signingSecret', options.signingSecret);
    this.#newest = new NewestEntries(options.cap);
  }

  /** Settles when the first attempt, its copies and the deliveries it releases have ended. Never rejects. */
  async send(dispatch: Dispatch): Promise<Delivery> {
    const { payment, fault: given, edit } = dispatch;
    const url = this.#options.getUrl();
    const delivery: LiveDelivery = {
      id: this.#options.ids.next('delivery'),
      referenceNumber: payment.referenceNumber,
      status: payment.status,
      payment,
      state: url === undefined ? 'not-configured' : 'sending',
      url: url ?? '',
      attempts: [],
      ...(edit !== undefined && { edit }),
    };
    const generation = this.#generation;
    this.#newest.add(delivery.id, delivery);
    if (url !== undefined) this.#unfinished.set(delivery, undefined);
    this.#options.onDelivery(delivery);
    // A listener may have reset the service.
    if (url === undefined || generation !== this.#generation) return delivery;
    const fault = given ?? this.#takeFault(delivery, 1, true);
    if (fault?.type === 'reorder') {
      this.#held = [...this.#held, delivery];
      this.#move(delivery, 'held');
      return delivery;
    }
    await this.#attempt(delivery, 1, fault);
    await this.#releaseHeld(payment.referenceNumber);
    return delivery;
  }

  async #releaseHeld(referenceNumber: string): Promise<void> {
    const isReleased = (delivery: LiveDelivery) => delivery.referenceNumber === referenceNumber;
    const released = this.#held.filter(isReleased);
    this.#held = this.#held.filter((delivery) => !isReleased(delivery));
    const generation = this.#generation;
    for (const delivery of released.reverse()) {
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
    const { edit, referenceNumber, status, payment } = delivery;
    if (edit !== undefined) return undefined;
    const { merchantPaymentReference } = payment;
    const facts = { referenceNumber, merchantPaymentReference, status, attempt };
    return this.#options.faults.take('callback', facts, canHold);
  }

  #schedule(delivery: LiveDelivery, delayMs: number, attempt: number): void {
    const timer = this.#options.settings.clock.setTimeout(() => {
      this.#unfinished.set(delivery, undefined);
      this.#move(delivery, 'sending');
      // Returned, so that a manual clock waits for the attempt.
      return this.#attempt(delivery, attempt, this.#takeFault(delivery, attempt));
    }, delayMs);
    this.#unfinished.set(delivery, timer);
  }

  async #attempt(
    delivery: LiveDelivery,
    attempt: number,
    fault: CheckedCallbackFault | undefined,
  ): Promise<void> {
    delivery.url = this.#options.getUrl() ?? delivery.url;
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
    const { clock, signatureEncoding, timestampUnit, retrySigning } = this.#options.settings;
    const signedAtMs = clock.signingTime();
    if (retrySigning === 'original') delivery.firstSignedAtMs ??= signedAtMs;
    return createCallbackMessage({
      record: toStatusRecord(delivery.payment),
      signedAtMs: delivery.firstSignedAtMs ?? signedAtMs,
      key: this.#signingKey,
      encoding: signatureEncoding,
      unit: timestampUnit,
      fault,
      edit: delivery.edit,
    });
  }

  async #transmit(group: AttemptGroup, copy: number): Promise<void> {
    const { settings, ids, log, onAttempt } = this.#options;
    const { delivery, attempt, message, fault } = group;
    const generation = this.#generation;
    const id = ids.next('delivery');
    // In this order sentAt + latencyMs is never before the end, even if the process stalls between the two.
    const startedMs = performance.now();
    const sentAt = new Date(settings.clock.now());
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
      latencyMs: performance.now() - startedMs,
      ...message,
      ...result,
      ...(fault !== undefined && { fault: fault.type }),
      ...(group.unfinished === 0 && this.#conclude(group)),
    });
    delivery.attempts = [...delivery.attempts, entry];
    log.push(entry);
    onAttempt(entry);
    if (group.unfinished === 0) this.#options.onDelivery(delivery);
  }

  async #post({
    delivery,
    message,
    fault,
  }: AttemptGroup): Promise<PostResult | { readonly outcome: 'dropped' }> {
    if (fault?.type === 'drop') return { outcome: 'dropped' };
    this.#sending += 1;
    const { headers, rawBody } = message;
    const result = await this.#sender.post({ url: delivery.url, headers, body: rawBody });
    this.#sending -= 1;
    if (this.#sending === 0) {
      // After the attempt's result is recorded and its retry is set.
      timers.setImmediate(() => this.#reportIdle());
    }
    return result;
  }

  // Before the attempt is logged: a test that waits for it may advance the clock next.
  #conclude({ delivery, attempt, acknowledged }: AttemptGroup): { nextRetryAt?: Date } {
    const { clock, retryScheduleMs } = this.#options.settings;
    const delayMs = retryScheduleMs[attempt - 1];
    if (acknowledged || delayMs === undefined) {
      delivery.state = acknowledged ? 'acknowledged' : 'given-up';
      this.#unfinished.delete(delivery);
      return {};
    }
    delivery.state = 'retrying';
    this.#schedule(delivery, delayMs, attempt + 1);
    return { nextRetryAt: new Date(clock.now() + delayMs) };
  }

  #move(delivery: LiveDelivery, state: DeliveryState): void {
    delivery.state = state;
    this.#options.onDelivery(delivery);
  }

  /** Finds a delivery, among the newest, by its id or that of an attempt. */
  get(id: string): Delivery | undefined {
    const attempt = this.#options.log.events.find((one) => one.id === id);
    return this.#newest.get(attempt?.deliveryId ?? id);
  }

  /** The newest deliveries, oldest first. */
  list(): readonly (EditableDelivery & { readonly url: string })[] {
    return this.#newest.list();
  }

  /** Takes over a delivery of an earlier run, and goes on where that ended. */
  restore(saved: EditableDelivery & { readonly url: string }): void {
    const delivery: LiveDelivery = { ...saved };
    this.#newest.add(delivery.id, delivery);
    if (delivery.state === 'held') {
      this.#unfinished.set(delivery, undefined);
      this.#held = [...this.#held, delivery];
    } else if (delivery.state === 'retrying' || delivery.state === 'sending') {
      const last = delivery.attempts.at(-1);
      const leftMs = (last?.nextRetryAt?.getTime() ?? 0) - this.#options.settings.clock.now();
      this.#schedule(delivery, Math.max(0, leftMs), (last?.attempt ?? 0) + 1);
    }
  }

  /** Removes an attempt that the log dropped from its delivery, whose oldest it is. */
  forget({ deliveryId }: DeliveryAttempt): void {
    const delivery = this.#newest.get(deliveryId);
    if (delivery !== undefined) delivery.attempts = delivery.attempts.slice(1);
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

  /** Says what is pending, for the message of a wait that timed out. */
  describePending(): string[] {
    const held = this.#held.length;
    const waiting = [...this.#unfinished.values()].filter((timer) => timer !== undefined).length;
    const lines: string[] = [];
    if (this.#sending > 0) lines.push(`${this.#sending} under way`);
    if (held > 0) lines.push(`${held} held by a reorder fault until the payment's next change`);
    if (waiting > 0) lines.push(`${waiting} waiting for a retry on the service's clock`);
    return lines;
  }

  /** Cancels retries, forgets held deliveries, aborts attempts under way. */
  cancel(): void {
    this.#generation += 1;
    const unfinished = [...this.#unfinished];
    this.#unfinished.clear();
    this.#held = [];
    this.#newest.clear();
    for (const [, timer] of unfinished) timer?.cancel();
    // Reported here, since later results are ignored.
    for (const [delivery] of unfinished) this.#move(delivery, 'cancelled');
    this.#sender.abort();
  }

  /** After {@link CallbackDispatcher.cancel}. */
  close(): Promise<void> {
    return this.#sender.close();
  }
}
