import { ownFields } from '../protocol/own-fields.js';
import type { FailedChange } from './attention.js';
import type { FailedRow } from './backend.js';
import type { Change, ChangeName } from './change.js';
import type { KeptFailure, SeenChange } from './change-steps.js';

interface KnownPayment {
  readonly keys: Set<string>;
  watermarkUs: string;
  changedAtMs: number;
}

interface KeptChange {
  readonly name: ChangeName;
  readonly occurredAtUs: bigint;
  readonly change: FailedChange;
}

const MAX_FAILURES = 1_000;

/** The processed and the failed changes of a store in memory. */
export class MemoryChanges {
  /** By their names, in the order of their last change. */
  readonly #payments = new Map<string, KnownPayment>();
  /** By their names, in the order of their first failure. */
  readonly #failures = new Map<string, KeptChange>();

  see(change: Change): Omit<SeenChange, 'row' | 'secondUpdatedAtUs'> {
    const known = this.#payments.get(nameOf(change));
    const failure = this.#failures.get(nameOf(change, change.key))?.change;
    return {
      isProcessed: known?.keys.has(change.key) === true,
      watermarkUs: known?.watermarkUs,
      failure: failure && { attempts: failure.attempts, parked: failure.parked },
      isBehindParked: this.#parkedBefore(change),
    };
  }

  #parkedBefore(change: Change): boolean {
    const happened = BigInt(change.occurredAtUs);
    return [...this.#failures.values()].some(({ name, occurredAtUs, change: other }) => {
      if (!other.parked || nameOf(name) !== nameOf(change)) return false;
      return occurredAtUs < happened || (occurredAtUs === happened && name.key < change.key);
    });
  }

  remember(change: Change, watermarkUs: string, nowMs: number): void {
    const name = nameOf(change);
    const payment = this.#payments.get(name) ?? {
      keys: new Set(),
      watermarkUs,
      changedAtMs: nowMs,
    };
    payment.keys.add(change.key);
    payment.watermarkUs = watermarkUs;
    payment.changedAtMs = nowMs;
    this.#payments.delete(name);
    this.#payments.set(name, payment);
    this.#failures.delete(nameOf(change, change.key));
  }

  keep(change: Change, { attempts, parked, error, rawBody }: KeptFailure, nowMs: number): void {
    const name = nameOf(change, change.key);
    const known = this.#failures.get(name)?.change;
    const [oldest] = this.#failures.keys();
    if (known === undefined && this.#failures.size >= MAX_FAILURES && oldest !== undefined) {
      this.#failures.delete(oldest);
    }
    const [merchantPaymentReference, referenceNumber, key] = JSON.parse(change.fullNames);
    const bytes = rawBody === undefined ? known?.rawBody : new Uint8Array(rawBody);
    const { merchantPaymentReference: order, referenceNumber: number } = change;
    this.#failures.set(name, {
      name: { merchantPaymentReference: order, referenceNumber: number, key: change.key },
      occurredAtUs: BigInt(change.occurredAtUs),
      change: ownFields({
        kind: 'failed-change' as const,
        merchantPaymentReference,
        since: known?.since ?? new Date(nowMs),
        referenceNumber,
        key,
        occurredAt: new Date(Math.floor(Number(change.occurredAtUs) / 1000)),
        attempts,
        lastFailedAt: new Date(nowMs),
        parked,
        error: JSON.parse(error),
        ...(bytes !== undefined && { rawBody: bytes }),
      }),
    });
  }

  list(referenceNumber: string | undefined): readonly FailedRow[] {
    return [...this.#failures.values()]
      .filter(
        ({ name }) => referenceNumber === undefined || name.referenceNumber === referenceNumber,
      )
      .map(({ name, change }) => ({
        place: {
          atMs: change.since.getTime(),
          names: [name.merchantPaymentReference, name.referenceNumber, name.key],
        },
        // A copy, which its reader may change.
        change: structuredClone(change),
      }));
  }

  /** Returns whether the failure has changed, and was kept. */
  forget(name: ChangeName, attempts: number): boolean {
    const stored = nameOf(name, name.key);
    const known = this.#failures.get(stored);
    if (known === undefined) return false;
    if (known.change.attempts !== attempts) return true;
    this.#failures.delete(stored);
    return false;
  }

  /** Forgets payments beyond a number of them, the oldest first, and what last changed before a time. */
  prune(beforeMs: number, maxEntries = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (const [name, { keys, changedAtMs }] of this.#payments) {
      if (this.#payments.size <= maxEntries && changedAtMs >= beforeMs) break;
      this.#payments.delete(name);
      count += keys.size;
    }
    for (const [name, { change }] of this.#failures) {
      if (change.lastFailedAt.getTime() >= beforeMs) continue;
      this.#failures.delete(name);
      count += 1;
    }
    return count;
  }
}

/** Unique for each payment or change, whatever characters the references and the key contain. */
function nameOf(
  { merchantPaymentReference, referenceNumber }: Omit<ChangeName, 'key'>,
  ...key: readonly string[]
): string {
  return JSON.stringify([merchantPaymentReference, referenceNumber, ...key]);
}
