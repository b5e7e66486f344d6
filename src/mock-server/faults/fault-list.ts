import { isMatching } from '../state/event-log.js';
import type { CallbackFaultMatch, Fault, RequestFaultMatch } from './fault.js';
import type { FaultTarget } from './fault-catalogue.js';
import { type CheckedCallbackFault, type CheckedRequestFault, readFault } from './fault-rules.js';

/** The pending faults of a mock service. */
export interface MockFaults {
  /**
   * Adds a fault after the pending ones.
   *
   * @throws {InvalidOptionError} for an unknown `on` or `type`, an unknown field, or a value out of range
   */
  add(fault: Fault): void;
  /** Removes every fault. */
  clear(): void;
  /** Returns copies of the pending faults, oldest first; `times` is what is left. A test that ends with one has not tested what it should. */
  pending(): readonly Fault[];
}

/** What a fault's `match` is compared with. */
export type RequestFacts = { readonly [Key in keyof RequestFaultMatch]-?: string | undefined };
/** As {@link RequestFacts}, for an attempt to deliver a callback. */
export type CallbackFacts = {
  readonly [Key in keyof CallbackFaultMatch]-?: Exclude<CallbackFaultMatch[Key], undefined>;
};

/** A pending fault, and the id for removing it. */
export interface PendingFault {
  readonly id: string;
  readonly fault: Fault;
}

interface Entry {
  readonly id: string;
  /** As it was added. */
  readonly fault: Fault;
  readonly checked: CheckedRequestFault | CheckedCallbackFault;
  left: number;
}

export class FaultList implements MockFaults {
  readonly #onChange: (pending: readonly Fault[]) => void;
  #entries: Entry[] = [];
  #added = 0;

  constructor(onChange: (pending: readonly Fault[]) => void) {
    this.#onChange = onChange;
  }

  add(fault: Fault): void {
    const { given, checked } = readFault(fault);
    const names = Object.keys(given) as (keyof typeof checked)[];
    // Of the checked values, which the caller's later changes do not reach.
    const copy = Object.fromEntries(names.map((name) => [name, checked[name]])) as unknown as Fault;
    this.#added += 1;
    const id = String(this.#added);
    this.#entries.push({ id, fault: copy, checked, left: checked.times });
    this.#onChange(this.pending());
  }

  clear(): void {
    this.#entries = [];
    this.#onChange([]);
  }

  pending(): readonly Fault[] {
    return this.list().map(({ fault }) => fault);
  }

  list(): readonly PendingFault[] {
    return this.#entries.map(({ id, fault, left }) => ({
      id,
      fault: { ...copyFault(fault), times: left },
    }));
  }

  /** Returns whether there was one with that id. */
  remove(id: string): boolean {
    const found = this.#entries.find((entry) => entry.id === id);
    if (found === undefined) return false;
    this.#drop(found);
    return true;
  }

  #drop(entry: Entry): void {
    this.#entries = this.#entries.filter((other) => other !== entry);
    this.#onChange(this.pending());
  }

  /** Returns the oldest fault that matches the request, and counts down its `times`. */
  takeForRequest(facts: RequestFacts): CheckedRequestFault | undefined {
    return this.#take('request', facts) as CheckedRequestFault | undefined;
  }

  /**
   * Returns the oldest fault that matches the attempt, and counts down its `times`. Without `canHold`,
   * `reorder` faults do not match: only a first attempt can be held, and only once.
   */
  takeForCallback(facts: CallbackFacts, canHold: boolean): CheckedCallbackFault | undefined {
    const excluded = canHold ? undefined : 'reorder';
    return this.#take('callback', facts, excluded) as CheckedCallbackFault | undefined;
  }

  #take(on: FaultTarget, facts: RequestFacts | CallbackFacts, excluded?: Fault['type']) {
    const entry = this.#entries.find(
      ({ checked }) =>
        checked.on === on && checked.type !== excluded && isMatching(checked.match ?? {}, facts),
    );
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left === 0) this.#drop(entry);
    else this.#onChange(this.pending());
    return entry.checked;
  }
}

/** A caller that changes it must not change the pending fault. */
function copyFault(fault: Fault): Fault {
  const copy = { ...fault, match: fault.match === undefined ? undefined : { ...fault.match } };
  if (copy.type === 'extra-field') copy.value = copyJson(copy.value);
  if (copy.type === 'client-error') copy.body = copyJson(copy.body);
  return copy as Fault;
}

const copyJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
