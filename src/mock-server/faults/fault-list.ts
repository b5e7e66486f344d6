import type { EventFeed } from '../events.js';
import { assertFault } from './fault-rules.js';
import type {
  CallbackFault,
  CallbackFaultMatch,
  Fault,
  RequestFault,
  RequestFaultMatch,
} from './fault-types.js';

/** The faults of a mock service that are still to happen. */
export interface MockFaults {
  /**
   * Adds a fault behind those that are there.
   *
   * @throws {InvalidOptionError} for an unknown `on` or `type`, an unknown field, or a value out of range
   */
  add(fault: Fault): void;
  /** Takes every fault away. */
  clear(): void;
  /** Copies of the faults that are not used up, oldest first, `times` being what is left. A test that ends with one has not tested what it meant to. */
  pending(): readonly Fault[];
}

/** What a request says about itself. */
export type RequestFacts = { readonly [Key in keyof RequestFaultMatch]-?: string | undefined };

/** What an attempt to deliver says about itself. */
export interface CallbackFacts {
  readonly referenceNumber: string;
  readonly merchantPaymentReference: string;
  readonly status: string;
  readonly attempt: number;
}

interface Entry {
  readonly fault: Fault;
  left: number;
}

export class FaultList implements MockFaults {
  readonly #feed: EventFeed;
  #entries: Entry[] = [];

  constructor(feed: EventFeed) {
    this.#feed = feed;
  }

  add(fault: Fault): void {
    assertFault(fault);
    this.#entries.push({ fault: copyFault(fault), left: fault.times ?? 1 });
    this.#tell();
  }

  clear(): void {
    this.#entries = [];
    this.#tell();
  }

  pending(): readonly Fault[] {
    return this.#entries.map(({ fault, left }) => ({ ...copyFault(fault), times: left }));
  }

  /** Uses up one time of the oldest fault that fits the request. */
  takeForRequest(facts: RequestFacts): RequestFault | undefined {
    return this.#take(
      (fault): fault is RequestFault => fault.on === 'request' && isMatching(fault.match, facts),
    );
  }

  /**
   * Uses up one time of the oldest fault that fits the attempt. With `canHold` false a `reorder`
   * fault does not fit: only a first attempt can be kept back, and only once.
   */
  takeForCallback(facts: CallbackFacts, canHold: boolean): CallbackFault | undefined {
    return this.#take(
      (fault): fault is CallbackFault =>
        fault.on === 'callback' &&
        (canHold || fault.type !== 'reorder') &&
        isMatching(fault.match, facts),
    );
  }

  #take<Taken extends Fault>(isFitting: (fault: Fault) => fault is Taken): Taken | undefined {
    for (const entry of this.#entries) {
      const { fault } = entry;
      if (!isFitting(fault)) continue;
      entry.left -= 1;
      if (entry.left === 0) this.#entries = this.#entries.filter((other) => other !== entry);
      this.#tell();
      return fault;
    }
    return undefined;
  }

  #tell(): void {
    this.#feed.emit({ type: 'faults', faults: this.pending() });
  }
}

/** A copy that what the caller does to the fault later does not change. */
export function copyFault<AnyFault extends Fault>(fault: AnyFault): AnyFault {
  const match = fault.match === undefined ? undefined : { ...fault.match };
  if (fault.type !== 'extra-field' || fault.value === undefined) {
    return { ...fault, match };
  }
  return { ...fault, match, value: JSON.parse(JSON.stringify(fault.value)) };
}

function isMatching(
  match: RequestFaultMatch | CallbackFaultMatch | undefined,
  facts: RequestFacts | CallbackFacts,
): boolean {
  const known = new Map<string, unknown>(Object.entries(facts));
  return Object.entries(match ?? {}).every(
    ([field, wanted]) => wanted === undefined || wanted === known.get(field),
  );
}
