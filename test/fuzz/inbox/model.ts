import type { StatusChange, ChangeOutcome } from '../../../src/store/callback-store.js';
import type { Pruning } from './store.js';

/** One delivery that the model has let begin. */
export interface Holder {
  readonly event: StatusChange;
}

interface PaymentState {
  readonly done: Set<string>;
  /** When the latest processed change happened. */
  watermark: number | undefined;
  /** The watermark that the owner has seen, where it was pruned since: recording brings it back. */
  seen: number | undefined;
  /** Who has the claim, dead or alive. */
  owner: Holder | undefined;
  /** Whether the claim may be taken over. */
  expired: boolean;
}

/** What an inbox promises, in the plainest words: no clock, no store, nothing at the same time. */
export class InboxModel {
  readonly #payments = new Map<string, PaymentState>();
  /** Whether a callback for a payment in work is `busy`, before anything else is checked. */
  readonly busyFirst: boolean;

  constructor(busyFirst: boolean) {
    this.busyFirst = busyFirst;
  }

  /** The answer to a delivery that begins now; `claimed` when its work is to run. */
  begin(holder: Holder): Exclude<ChangeOutcome, 'processed'> | 'claimed' {
    const answer = this.peek(holder.event);
    if (answer === 'claimed') {
      const payment = this.#payment(holder.event.referenceNumber);
      payment.owner = holder;
      payment.expired = false;
    }
    return answer;
  }

  /** As {@link begin}, with nothing begun. */
  peek(event: StatusChange): Exclude<ChangeOutcome, 'processed'> | 'claimed' {
    const payment = this.#payment(event.referenceNumber);
    const busy = payment.owner !== undefined && !payment.expired;
    if (busy && this.busyFirst) return 'busy';
    if (payment.done.has(event.key)) return 'duplicate';
    if (!event.processStale && Number(event.occurredAt) < (payment.watermark ?? -Infinity)) {
      return 'stale';
    }
    return busy ? 'busy' : 'claimed';
  }

  /** Whether the claim is this holder's, and alive. */
  holds(holder: Holder): boolean {
    const { owner, expired } = this.#payment(holder.event.referenceNumber);
    return owner === holder && !expired;
  }

  /** Whether the holder's work is recorded: not when another holder has the claim by now. */
  finish(holder: Holder, succeeded: boolean): boolean {
    const { event } = holder;
    const payment = this.#payment(event.referenceNumber);
    if (payment.owner !== holder) return false;
    const { seen } = payment;
    payment.owner = undefined;
    payment.seen = undefined;
    if (!succeeded) return false;
    payment.done.add(event.key);
    const known = [payment.watermark, seen].map((watermark) => watermark ?? -Infinity);
    payment.watermark = Math.max(...known, Number(event.occurredAt));
    return true;
  }

  /** The holder is taken for dead. It keeps its claim until another holder takes it over. */
  expire({ event }: Holder): void {
    this.#payment(event.referenceNumber).expired = true;
  }

  /** The holder is dead, and the claim is gone with it. */
  drop(holder: Holder): void {
    const payment = this.#payment(holder.event.referenceNumber);
    if (payment.owner !== holder) return;
    payment.owner = undefined;
    payment.seen = undefined;
  }

  /** Forgets every payment that is not in work, and of the others what the store forgets. */
  prune(ofOthers: Pruning): void {
    for (const [reference, payment] of this.#payments) {
      if (payment.owner === undefined || payment.expired) this.#payments.delete(reference);
      if (ofOthers === 'not in work') continue;
      payment.done.clear();
      if (ofOthers === 'not what works have seen') payment.seen ??= payment.watermark;
      payment.watermark = undefined;
    }
  }

  #payment(reference: string): PaymentState {
    const known = this.#payments.get(reference);
    if (known !== undefined) return known;
    const created = {
      done: new Set<string>(),
      watermark: undefined,
      seen: undefined,
      owner: undefined,
      expired: false,
    };
    this.#payments.set(reference, created);
    return created;
  }
}
