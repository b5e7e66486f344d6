import type { PaymentClient } from '../../../../src/client/payment-client.js';
import { Engine } from '../../../../src/outbox/engine.js';
import { MemoryStore } from '../../../../src/outbox/memory-store.js';
import type { Intent, Result } from '../../../../src/outbox/store.js';

/** Later than anything. */
export const NEVER = new Date(8_640_000_000_000_000);

/** A store that is right, in parts that can be replaced. Its clock moves at each look. */
export class RightStore extends MemoryStore {
  readonly #clock: { nowMs: number };

  constructor() {
    const clock = { nowMs: Date.now() };
    super({
      maxEntries: 10_000,
      now() {
        clock.nowMs += 1;
        return clock.nowMs;
      },
    });
    this.#clock = clock;
  }

  loseLeases(): void {
    this.#clock.nowMs += 60_000;
  }

  /** Ends a payment in spite of what is stored, and forgets all that is over. */
  protected async overwrite(key: string, intent: Intent, result: Result) {
    await super.prune(NEVER);
    const owner = 'another';
    await super.claim({ key, intent, owner, allowsRejected: true, leaseMs: 1_000 });
    return super.finish(key, owner, result);
  }
}

/** An outbox that is right, in parts that can be replaced. */
export class RightOutbox extends Engine<unknown> {
  readonly store: RightStore;

  constructor(store: RightStore, client: PaymentClient) {
    super(store, { client, leaseMs: undefined });
    this.store = store;
  }
}

export interface WrongOutbox {
  /** What it does that it should not. */
  readonly flaw: string;
  /** The case of the contract that must fail on it. */
  readonly caughtBy: string;
  /** What the failure says. */
  readonly says: RegExp;
  readonly store?: typeof RightStore;
  readonly outbox?: typeof RightOutbox;
  /** After how long the case fails, where it would not end otherwise, in milliseconds. */
  readonly timeoutMs?: number;
}
