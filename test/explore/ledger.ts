import type { Status } from './scene.js';

/** A change of a payment that a callback tells of. */
export interface Told extends Status {
  /** The service's reference of the payment. */
  readonly number: string;
  /** The merchant's. */
  readonly reference: string;
  /** The change's key. */
  readonly key: string;
}

/** What has happened, whatever the store remembers of it. */
export class Ledger {
  /** The changes that have reached the store, by their keys. */
  readonly told = new Map<string, Told>();
  /** Those that were answered with 200. */
  readonly acknowledged = new Set<string>();
  /** Those whose work has completed. */
  readonly done: Told[] = [];
  /** The changes whose work has failed, and how often, of which its last run knew. */
  readonly failed = new Map<string, number>();
  /** Payments, and changes, that a person has taken off the list. */
  readonly discarded = new Set<string>();
  /** What an order that follows `current` shows. */
  shown: Told | undefined;
  /** The change whose work is running. */
  working: string | undefined;
  /** A row was pruned of which `attention()` listed nothing: what follows is documented. */
  isForgotten = false;
  /** How many rows each `prune` has deleted. */
  readonly pruned: number[] = [];

  /** The payments of which an answer has told that was heard to its end. */
  readonly heard = new Set<string>();
  /** The references whose claims were granted, one for each. */
  readonly claims: string[] = [];
  /** A person has decided about a payment. */
  isMarked = false;
  /** A person has stopped waiting for a callback without a look at the service. */
  isDropped = false;
  /** The payment of which a callback has told first that it is paid. */
  firstPaid: string | undefined;

  tell(change: Told): void {
    this.told.set(change.key, change);
    if (isPaid(change)) this.firstPaid ??= change.number;
  }

  /** How often the work of a change has failed, of what is listed. */
  failuresOf(key: string): number {
    return this.discarded.has(key) ? 0 : (this.failed.get(key) ?? 0);
  }

  fail(key: string, count: number): void {
    this.failed.set(key, count);
    this.discarded.delete(key);
  }

  /** Whether a failed change should be listed. */
  get hasFailed(): boolean {
    return [...this.failed.keys()].some((key) => !this.isDone(key) && !this.discarded.has(key));
  }

  isDone(key: string): boolean {
    return this.done.some((one) => one.key === key);
  }

  /** The merchant's reference of a payment that a callback has told of. */
  referenceOf(number: string): string | undefined {
    return this.toldOf(number)[0]?.reference;
  }

  toldOf(number: string): readonly Told[] {
    return [...this.told.values()].filter((one) => one.number === number);
  }

  claimsOf(reference: string): number {
    return this.claims.filter((one) => one === reference).length;
  }

  /** The payments of a reference that callbacks have told of. */
  numbersOf(wanted: string): ReadonlySet<string> {
    const told = [...this.told.values()].filter(({ reference }) => reference === wanted);
    return new Set(told.map(({ number }) => number));
  }

  /** The payments that callbacks have told are paid. */
  get paid(): ReadonlySet<string> {
    return new Set([...this.told.values()].filter(isPaid).map(({ number }) => number));
  }

  state(): unknown {
    return [
      [...this.told.keys()].sort(),
      [...this.acknowledged].sort(),
      // Their order decides what the store takes for the newest.
      this.done.map(({ key }) => key),
      [...this.failed].sort(),
      [...this.discarded].sort(),
      this.shown?.key,
      this.firstPaid,
      this.working,
      this.isForgotten,
      this.isDropped,
      this.isMarked,
      [...this.claims].sort(),
      [...this.heard],
      this.pruned,
    ];
  }
}

export function isPaid({ status }: Status): boolean {
  return status === 'paid';
}

/** Of one instant, `paid` is the later. */
export function newestOf(changes: readonly Told[]): Told | undefined {
  const isLater = (one: Told, other: Told) =>
    one.at > other.at || (one.at === other.at && isPaid(one) && !isPaid(other));
  return changes.reduce<Told | undefined>(
    (newest, one) => (newest === undefined || isLater(one, newest) ? one : newest),
    undefined,
  );
}
