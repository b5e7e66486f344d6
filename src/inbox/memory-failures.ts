import { type KeptFailure, type NewFailure, NOTHING_SEEN, type SeenFailures } from './attempt.js';
import {
  assertChangeId,
  type ChangeId,
  type FailedChange,
  type FailedChangeStore,
  type FailedChangesOptions,
  resolveListOptions,
} from './failed-changes.js';

/** A change as the memory inbox has it. */
export interface RememberedChange extends ChangeId {
  /** In epoch microseconds. */
  readonly occurredAtUs: number;
}

interface RememberedFailure extends RememberedChange {
  attempts: number;
  readonly firstFailedAtMs: number;
  lastFailedAtMs: number;
  parked: boolean;
  error: FailedChange['error'];
  rawBody: Uint8Array | undefined;
}

const MAX_FAILURES = 1_000;

/** The changes whose work failed, in memory: the latest 1,000. */
export class MemoryFailures implements FailedChangeStore {
  readonly #now: () => number;
  readonly #keepBodies: boolean;
  /** By payment, then by key. */
  readonly #payments = new Map<string, Map<string, RememberedFailure>>();
  #count = 0;

  constructor({ now, keepBodies }: { now: () => number; keepBodies: boolean }) {
    this.#now = now;
    this.#keepBodies = keepBodies;
  }

  /** What is kept of a change that is about to run. */
  see(change: RememberedChange): SeenFailures {
    const failures = this.#payments.get(change.paymentReference);
    if (failures === undefined) return NOTHING_SEEN;
    const own = failures.get(change.key);
    const isEarlier = (other: RememberedFailure): boolean =>
      other.occurredAtUs < change.occurredAtUs ||
      (other.occurredAtUs === change.occurredAtUs && other.key < change.key);
    return {
      own: own && (own.parked ? 'parked' : 'failed'),
      behindParked: [...failures.values()].some((other) => other.parked && isEarlier(other)),
    };
  }

  keep(change: RememberedChange, { ran, parkFrom, error, getRawBody }: NewFailure): KeptFailure {
    const nowMs = this.#now();
    const failure =
      this.#payments.get(change.paymentReference)?.get(change.key) ?? this.#add(change);
    failure.attempts += ran ? 1 : 0;
    failure.lastFailedAtMs = nowMs;
    failure.parked ||= parkFrom !== undefined && failure.attempts >= parkFrom;
    failure.error = error;
    // A copy: the framework may use the bytes again.
    if (this.#keepBodies) failure.rawBody = getRawBody()?.slice() ?? failure.rawBody;
    return failure;
  }

  #add(change: RememberedChange): RememberedFailure {
    if (this.#count >= MAX_FAILURES) this.#forgetOldest();
    const nowMs = this.#now();
    const failure: RememberedFailure = {
      ...change,
      attempts: 0,
      firstFailedAtMs: nowMs,
      lastFailedAtMs: nowMs,
      parked: false,
      error: { name: 'Error', message: '' },
      rawBody: undefined,
    };
    const failures = this.#payments.get(change.paymentReference) ?? new Map();
    this.#payments.set(change.paymentReference, failures.set(change.key, failure));
    this.#count += 1;
    return failure;
  }

  #forgetOldest(): void {
    const [oldest] = this.#list();
    if (oldest !== undefined) this.forget(oldest);
  }

  /** Whether there was one. */
  forget({ paymentReference, key }: ChangeId): boolean {
    const failures = this.#payments.get(paymentReference);
    if (!failures?.delete(key)) return false;
    if (failures.size === 0) this.#payments.delete(paymentReference);
    this.#count -= 1;
    return true;
  }

  /** Forgets those that have not failed since. */
  prune(olderThanMs: number): void {
    if (this.#count === 0) return;
    for (const failure of this.#list()) {
      if (failure.lastFailedAtMs <= olderThanMs) this.forget(failure);
    }
  }

  failedChanges(options?: FailedChangesOptions): AsyncIterable<FailedChange> {
    const { limit, paymentReference } = resolveListOptions(options);
    return this.#read(paymentReference, limit);
  }

  async discard(change: ChangeId): Promise<boolean> {
    assertChangeId(change);
    return this.forget(change);
  }

  async *#read(
    paymentReference: string | undefined,
    limit: number | undefined,
  ): AsyncGenerator<FailedChange> {
    for (const failure of this.#list(paymentReference).slice(0, limit)) {
      // It may have been discarded since.
      const { key } = failure;
      if (this.#payments.get(failure.paymentReference)?.get(key) === failure)
        yield toPublic(failure);
    }
  }

  /** In the order in which they first failed. */
  #list(paymentReference?: string): RememberedFailure[] {
    const payments =
      paymentReference === undefined
        ? [...this.#payments.values()]
        : [this.#payments.get(paymentReference) ?? new Map<string, RememberedFailure>()];
    return payments
      .flatMap((failures) => [...failures.values()])
      .sort((one, other) => one.firstFailedAtMs - other.firstFailedAtMs);
  }
}

function toPublic(failure: RememberedFailure): FailedChange {
  const { key, paymentReference, occurredAtUs, attempts, parked, error, rawBody } = failure;
  return {
    key,
    paymentReference,
    occurredAt: new Date(Math.floor(occurredAtUs / 1000)),
    attempts,
    firstFailedAt: new Date(failure.firstFailedAtMs),
    lastFailedAt: new Date(failure.lastFailedAtMs),
    parked,
    error: { ...error },
    ...(rawBody === undefined ? {} : { rawBody: rawBody.slice() }),
  };
}
