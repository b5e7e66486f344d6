import {
  type KeptFailure,
  type NewFailure,
  NOTHING_SEEN,
  type SeenFailures,
  seeFailures,
} from './attempt.js';
import {
  assertChangeId,
  type ChangeId,
  type FailedChange,
  type FailedChangeStore,
  type FailedChangesOptions,
  resolveListOptions,
} from './failed-changes.js';

/** A change as the memory inbox stores it. */
export interface RememberedChange extends ChangeId {
  /** In epoch microseconds. */
  readonly occurredAtUs: number;
}

interface RememberedFailure extends RememberedChange, KeptFailure {
  readonly firstFailedAtMs: number;
  readonly lastFailedAtMs: number;
  readonly error: FailedChange['error'];
  readonly rawBody: Uint8Array | undefined;
}

const MAX_FAILURES = 1_000;

/** The latest 1,000 changes whose work failed. */
export class MemoryFailures implements FailedChangeStore {
  readonly #now: () => number;
  readonly #keepBodies: boolean;
  /** By payment and key, in the order of their first failure. */
  readonly #failures = new Map<string, RememberedFailure>();

  constructor({ now, keepBodies }: { now: () => number; keepBodies: boolean }) {
    this.#now = now;
    this.#keepBodies = keepBodies;
  }

  /** The stored failures that matter to a change about to run. */
  see(change: RememberedChange): SeenFailures {
    if (this.#failures.size === 0) return NOTHING_SEEN;
    return seeFailures(change, this.#list(change.paymentReference));
  }

  keep(change: RememberedChange, { ran, parkFrom, error, getRawBody }: NewFailure): KeptFailure {
    const name = toName(change);
    const known = this.#failures.get(name);
    if (known === undefined && this.#failures.size >= MAX_FAILURES) {
      const [oldest = name] = this.#failures.keys();
      this.#failures.delete(oldest);
    }
    const nowMs = this.#now();
    const attempts = (known?.attempts ?? 0) + (ran ? 1 : 0);
    const failure: RememberedFailure = {
      ...change,
      attempts,
      firstFailedAtMs: known?.firstFailedAtMs ?? nowMs,
      lastFailedAtMs: nowMs,
      parked: known?.parked || attempts >= (parkFrom ?? Number.POSITIVE_INFINITY),
      error,
      rawBody: (this.#keepBodies ? copy(getRawBody()) : undefined) ?? known?.rawBody,
    };
    this.#failures.set(name, failure);
    return failure;
  }

  /** Returns whether there was one. */
  forget(change: ChangeId): boolean {
    return this.#failures.delete(toName(change));
  }

  /** Forgets those that last failed at `olderThanMs` or earlier. */
  prune(olderThanMs: number): void {
    for (const [name, { lastFailedAtMs }] of this.#failures) {
      if (lastFailedAtMs <= olderThanMs) this.#failures.delete(name);
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
    for (const listed of this.#list(paymentReference).slice(0, limit)) {
      // It may have been discarded since, or have failed again.
      const failure = this.#failures.get(toName(listed));
      if (failure !== undefined) yield toPublic(failure);
    }
  }

  #list(paymentReference?: string): RememberedFailure[] {
    const all = [...this.#failures.values()];
    return paymentReference === undefined
      ? all
      : all.filter((failure) => failure.paymentReference === paymentReference);
  }
}

/** Unique per change, whatever characters the reference and the key contain. */
function toName({ paymentReference, key }: ChangeId): string {
  return JSON.stringify([paymentReference, key]);
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

/** A copy, since the caller may reuse the buffer; slice() of a Buffer would share its memory. */
function copy(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes && new Uint8Array(bytes);
}
