import type { KeyObject } from 'node:crypto';
import { timers } from '../../protocol/timers.js';
import type { CheckedCallbackFault, FaultList } from '../faults/fault-list.js';
import type { ResolvedServiceOptions } from '../options.js';
import { type Cap, type EventLog, NewestEntries } from '../state/cap.js';
import { type MockPayment, toStatusRecord } from '../state/payments.js';
import type { SeededIds } from '../state/seeded-ids.js';
import { CallbackSender } from './deliver.js';
import type {
  CallbackEdit,
  Delivery,
  DeliveryAttempt,
  DeliveryState,
  LiveDelivery,
} from './delivery.js';
import { type CallbackMessage, createCallbackMessage, createSigningKey } from './sign.js';

interface DispatcherOptions {
  readonly settings: ResolvedServiceOptions;
  readonly signingSecret: string;
  /** The merchant's callback URL at this moment: an attempt goes to the one that is set when it starts. */
  readonly getUrl: () => string | undefined;
  readonly cap: Cap;
  readonly ids: SeededIds;
  readonly faults: FaultList;
  readonly log: EventLog<DeliveryAttempt>;
  readonly emit: (
    event: { type: 'attempt'; attempt: DeliveryAttempt } | { type: 'delivery'; delivery: Delivery },
  ) => void;
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
  /** Held, being sent, or waiting for a retry; older ones too. With what cancels the retry. */
  readonly #unfinished = new Map<LiveDelivery, (() => void) | undefined>();
  readonly #held = new Set<LiveDelivery>();
  readonly #underWay = new Set<Promise<void>>();
  // What started before a reset must have no effect after it.
  #generation = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#sender = new CallbackSender({ timeoutMs: options.settings.callbackTimeoutMs });
    this.#signingKey = createSigningKey('signingSecret', options.signingSecret);
    this.#newest = new NewestEntries(options.cap);
  }

  /** Settles when the first attempt, its copies and the deliveries it releases have ended. Never rejects. */
  async send({ payment, fault: given, edit }: Dispatch): Promise<Delivery> {
    const url = this.#options.getUrl();
    const { referenceNumber, status } = payment;
    const delivery: LiveDelivery = {
      id: this.#options.ids.next('delivery'),
      referenceNumber,
      status,
      payment,
      state: url === undefined ? 'not-configured' : 'sending',
      url: url ?? '',
      attempts: NO_ATTEMPTS,
      ...(edit !== undefined && { edit }),
    };
    const generation = this.#generation;
    this.#newest.add(delivery.id, delivery);
    if (url !== undefined) this.#unfinished.set(delivery, undefined);
    this.#options.emit({ type: 'delivery', delivery });
    // A listener may have reset the service.
    if (url === undefined || generation !== this.#generation) return delivery;
    const fault = given ?? this.#takeFault(delivery, 1, true);
    if (fault?.type === 'reorder') {
      this.#held.add(delivery);
      this.#move(delivery, 'held');
      return delivery;
    }
    await this.#attempt(delivery, 1, fault);
    const released = [...this.#held].filter((held) => held.referenceNumber === referenceNumber);
    for (const held of released) this.#held.delete(held);
    for (const held of released.reverse()) {
      if (generation !== this.#generation) break;
      this.#move(held, 'sending');
      await this.#attempt(held, 1, this.#takeFault(held, 1));
    }
    return delivery;
  }

  #takeFault({ edit, payment }: LiveDelivery, attempt: number, canHold = false) {
    if (edit !== undefined) return undefined;
    const { referenceNumber, merchantPaymentReference, status } = payment;
    const facts = { referenceNumber, merchantPaymentReference, status, attempt };
    return this.#options.faults.take('callback', facts, canHold);
  }

  #schedule(delivery: LiveDelivery, delayMs: number, attempt: number): void {
    const cancel = this.#options.settings.clock.setTimeout(() => {
      this.#unfinished.set(delivery, undefined);
      this.#move(delivery, 'sending');
      // Returned, so that a manual clock waits for the attempt.
      return this.#attempt(delivery, attempt, this.#takeFault(delivery, attempt));
    }, delayMs);
    this.#unfinished.set(delivery, cancel);
  }

  #attempt(
    delivery: LiveDelivery,
    attempt: number,
    fault: CheckedCallbackFault | undefined,
  ): Promise<void> {
    const running = this.#transmitAll(delivery, attempt, fault).finally(() => {
      this.#underWay.delete(running);
    });
    this.#underWay.add(running);
    return running;
  }

  async #transmitAll(
    delivery: LiveDelivery,
    attempt: number,
    fault: CheckedCallbackFault | undefined,
  ): Promise<void> {
    const { mode, copies } = fault?.type === 'duplicate' ? fault : NO_COPIES;
    delivery.url = this.#options.getUrl() ?? delivery.url;
    const message = this.#write(delivery, fault);
    const unfinished = copies + 1;
    const group = { delivery, attempt, message, fault, unfinished, acknowledged: false };
    const generation = this.#generation;
    const sent: Promise<void>[] = [];
    for (let copy = 0; copy <= copies && generation === this.#generation; copy += 1) {
      sent.push(this.#transmit(group, copy));
      if (mode === 'in-turn') await sent[copy];
    }
    await Promise.all(sent);
  }

  #write(delivery: LiveDelivery, fault: CheckedCallbackFault | undefined): CallbackMessage {
    const { settings } = this.#options;
    const { payment, edit } = delivery;
    const nowMs = settings.clock.signingTime();
    if (settings.retrySigning === 'original') delivery.firstSignedAtMs ??= nowMs;
    const signedAtMs = delivery.firstSignedAtMs ?? nowMs;
    const record = toStatusRecord(payment);
    const key = this.#signingKey;
    return createCallbackMessage({ record, settings, signedAtMs, key, fault, edit });
  }

  async #transmit(group: AttemptGroup, copy: number): Promise<void> {
    const { settings, ids, log, emit } = this.#options;
    const { delivery, attempt, message, fault } = group;
    const { url, status, referenceNumber, payment } = delivery;
    const generation = this.#generation;
    const id = ids.next('delivery');
    // In this order sentAt + latencyMs is never before the end, even if the process stalls between the two.
    const startedMs = timers.now();
    const sentAt = new Date(settings.clock.now());
    const { headers, rawBody } = message;
    const result =
      fault?.type === 'drop'
        ? ({ outcome: 'dropped' } as const)
        : await this.#sender.post({ url, headers, body: rawBody });
    if (generation !== this.#generation) return;
    group.unfinished -= 1;
    group.acknowledged ||= result.outcome === 'acknowledged';
    const entry: DeliveryAttempt = Object.freeze({
      id,
      deliveryId: delivery.id,
      referenceNumber,
      merchantPaymentReference: payment.merchantPaymentReference,
      status,
      attempt,
      copy,
      url,
      sentAt,
      latencyMs: timers.now() - startedMs,
      ...message,
      ...result,
      ...(fault !== undefined && { fault: fault.type }),
      ...(group.unfinished === 0 && this.#conclude(group)),
    });
    delivery.attempts = delivery.attempts.concat(entry);
    const dropped = log.push(entry);
    if (dropped !== undefined) this.#forget(dropped);
    emit({ type: 'attempt', attempt: entry });
    if (group.unfinished === 0) emit({ type: 'delivery', delivery });
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
    this.#options.emit({ type: 'delivery', delivery });
  }

  /** Finds a delivery, among the newest, by its id or that of an attempt. */
  get(id: string): Delivery | undefined {
    const attempt = this.#options.log.entries.find((one) => one.id === id);
    return this.#newest.get(attempt?.deliveryId ?? id);
  }

  list(): readonly LiveDelivery[] {
    return this.#newest.list();
  }

  /** Takes over a delivery of an earlier run, and goes on where that ended. */
  restore(delivery: LiveDelivery): void {
    this.#newest.add(delivery.id, delivery);
    if (delivery.state === 'held') {
      this.#unfinished.set(delivery, undefined);
      this.#held.add(delivery);
    } else if (delivery.state === 'retrying' || delivery.state === 'sending') {
      const last = delivery.attempts.at(-1);
      const leftMs = (last?.nextRetryAt?.getTime() ?? 0) - this.#options.settings.clock.now();
      this.#schedule(delivery, Math.max(0, leftMs), (last?.attempt ?? 0) + 1);
    }
  }

  /** Removes an attempt that the log dropped from its delivery too: it is the oldest there. */
  #forget({ deliveryId }: DeliveryAttempt): void {
    const delivery = this.#newest.get(deliveryId);
    if (delivery !== undefined) delivery.attempts = delivery.attempts.slice(1);
  }

  /** Settles when no attempt is under way, and the retries of those that were are set. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  describePending(): string[] {
    const states = [...this.#unfinished.keys()].map(({ state }) => state);
    return Object.entries(PENDING).flatMap(([state, text]) => {
      const count = states.filter((one) => one === state).length;
      return count === 0 ? [] : [`Also ${count} ${text}`];
    });
  }

  /** Cancels retries, forgets held deliveries, aborts attempts under way. */
  cancel(): void {
    this.#generation += 1;
    const unfinished = [...this.#unfinished];
    this.#unfinished.clear();
    this.#held.clear();
    this.#newest.clear();
    for (const [, cancelRetry] of unfinished) cancelRetry?.();
    // Reported here, since later results are ignored.
    for (const [delivery] of unfinished) this.#move(delivery, 'cancelled');
    this.#sender.abort();
  }

  /** After {@link CallbackDispatcher.cancel}. */
  close(): Promise<void> {
    return this.#sender.close();
  }
}

const NO_ATTEMPTS: readonly DeliveryAttempt[] = [];
const NO_COPIES = { mode: 'in-turn', copies: 0 } as const;

const PENDING: Partial<Record<DeliveryState, string>> = {
  sending: 'under way',
  held: "held by a reorder fault until the payment's next change",
  retrying: "waiting for a retry on the service's clock",
};
