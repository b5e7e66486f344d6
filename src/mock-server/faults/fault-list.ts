import { InvalidOptionError } from '../../errors.js';
import { json } from '../../protocol/json.js';
import {
  invalidOption,
  objectOf,
  oneOf,
  optional,
  type Rule,
  resolveOptions,
  text,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import { isObject, ownFields } from '../../protocol/own-fields.js';
import { isMatching } from '../state/cap.js';
import {
  defaultOf,
  type Fault,
  type FaultEntry,
  type FaultParameter,
  type FaultTarget,
  faultCatalogue,
  faultTargets,
  faultTypesOn,
  matchFields,
} from './fault-catalogue.js';

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
  /** Copies of the pending faults, oldest first, with defaults; `times` is what is left. */
  pending(): readonly Fault[];
}

type Facts<On extends FaultTarget> = Required<
  NonNullable<Extract<Fault, { readonly on: On }>['match']>
>;

interface Entry {
  /** For removing it. */
  readonly id: string;
  readonly fault: CheckedFault;
  left: number;
}

export class FaultList implements MockFaults {
  readonly #onChange: (pending: readonly Fault[]) => void;
  #entries: readonly Entry[] = [];
  #added = 0;

  constructor(onChange: (pending: readonly Fault[]) => void) {
    this.#onChange = onChange;
  }

  add(fault: Fault): void {
    const checked = checkFault(fault);
    this.#added += 1;
    const entry = { id: String(this.#added), fault: checked, left: checked.times ?? 1 };
    this.#set([...this.#entries, entry]);
  }

  clear(): void {
    this.#set([]);
  }

  pending(): readonly Fault[] {
    return this.list().map(({ fault }) => fault);
  }

  /** Copies: a caller that changes one must not change the pending fault. */
  list(): readonly { readonly id: string; readonly fault: Fault }[] {
    return this.#entries.map(({ id, fault, left }) => ({
      id,
      fault: { ...structuredClone(fault), times: left } as Fault,
    }));
  }

  /** Returns whether there was one with that id. */
  remove(id: string): boolean {
    const others = this.#entries.filter((entry) => entry.id !== id);
    const isFound = others.length < this.#entries.length;
    if (isFound) this.#set(others);
    return isFound;
  }

  #set(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.#onChange(this.pending());
  }

  /**
   * Returns the oldest fault that matches the request or the attempt, and counts down its `times`. Without `canHold`,
   * `reorder` faults do not match: only a first attempt can be held, and only once.
   */
  take<On extends FaultTarget>(on: On, facts: Facts<On>, canHold = true) {
    const entry = this.#entries.find(
      ({ fault }) =>
        fault.on === on &&
        (canHold || fault.type !== 'reorder') &&
        isMatching(fault.match ?? {}, facts),
    );
    if (entry === undefined) return undefined;
    entry.left -= 1;
    this.#set(this.#entries.filter(({ left }) => left > 0));
    return entry.fault as Extract<CheckedFault, { readonly on: On }>;
  }
}

/** A valid fault, with the defaults of its parameters. */
type Checked<AnyFault> = AnyFault extends unknown
  ? {
      readonly [Key in Exclude<keyof AnyFault, 'match' | 'times'>]-?: Exclude<
        AnyFault[Key],
        undefined
      >;
    } & {
      readonly times?: number | undefined;
      readonly match?: Readonly<Record<string, unknown>> | undefined;
    }
  : never;
type CheckedFault = Checked<Fault>;
export type CheckedRequestFault = Extract<CheckedFault, { readonly on: 'request' }>;
export type CheckedCallbackFault = Extract<CheckedFault, { readonly on: 'callback' }>;

/**
 * Checks a fault, and copies it. Unknown fields are refused: a misspelt one would change what a
 * test tests.
 *
 * @throws {InvalidOptionError} naming the field that is invalid
 */
export function checkFault(fault: unknown): CheckedFault {
  const names = { owner: 'fault', holds: 'on and type' };
  if (!isObject(fault)) throw invalidOption(names.owner, `an object with ${names.holds}`, fault);
  const given = ownFields(fault) as { readonly on?: unknown; readonly type?: unknown };
  const on = oneOf(...faultTargets)(given.on, 'fault.on');
  const type = oneOf(...faultTypesOn(on))(given.type, 'fault.type');
  return resolveOptions(given, rules[type], names) as unknown as CheckedFault;
}

/** For one callback: without `times` and `match`. */
export function checkResendFault(fault: unknown): CheckedCallbackFault {
  const checked = checkFault(fault);
  if (checked.on !== 'callback') throw invalidOption('fault.on', "'callback'", checked.on);
  for (const field of ['times', 'match'] as const) {
    if (checked[field] === undefined) continue;
    throw new InvalidOptionError(
      `fault.${field}`,
      `fault.${field} must be left out: the fault applies to the first attempt of this delivery`,
    );
  }
  return checked;
}

function ruleOf(parameter: FaultParameter): Rule<unknown> {
  const fallback = defaultOf(parameter);
  const rule = plainRuleOf(parameter);
  return fallback === undefined ? rule : withDefault(fallback, rule);
}

function plainRuleOf(parameter: FaultParameter): Rule<unknown> {
  if (parameter.kind === 'number') return wholeNumber(parameter);
  return parameter.kind === 'choice' ? oneOf(...parameter.choices) : json;
}

const attempts = wholeNumber({ min: 1, unit: 'attempts' });
const times = wholeNumber({ min: 1, unit: 'times' });
const matchOf = (target: FaultTarget): Rule<unknown> =>
  objectOf(
    mapValues(matchFields[target], (kind) =>
      optional<unknown>(kind === 'number' ? attempts : text),
    ),
  );

const mapValues = <Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));

const rules = mapValues(
  faultCatalogue as Readonly<Record<string, FaultEntry>>,
  ({ on, parameters = {} }, type): Readonly<Record<string, Rule<unknown>>> => ({
    on: oneOf(on),
    type: oneOf(type),
    ...mapValues(parameters, ruleOf),
    times: optional((value, option) =>
      value === Number.POSITIVE_INFINITY ? value : times(value, option),
    ),
    match: optional(matchOf(on)),
  }),
) as Record<Fault['type'], Readonly<Record<string, Rule<unknown>>>>;
