import { InvalidOptionError } from '../errors.js';
import { describeValue } from './describe-value.js';
import { isObject, ownFields } from './own-fields.js';
import { isStandardSchema, type StandardSchemaV1 } from './standard-schema.js';

/**
 * Checks the value of one option and returns what to use: the value or its default.
 *
 * @throws {InvalidOptionError} naming the option, what was expected and what was received
 */
export type Rule<Value> = (value: unknown, option: string) => Value;

/** One rule for each option. With `satisfies`, the compiler reports missing and superfluous rules. */
export type OptionRules<Options> = {
  readonly [Option in keyof Required<Options>]: Rule<unknown>;
};

/** The options that a set of rules resolves to. */
export type Resolved<Rules> = {
  readonly [Option in keyof Rules]: Rules[Option] extends Rule<infer Value> ? Value : never;
};

/** For messages. */
interface OptionsOwner {
  /** Name of the value with the options, if messages say `owner.option`: `fault`. */
  readonly owner?: string;
  /** What the object must have: the required options. By default all. */
  readonly holds?: string;
}

/**
 * Checks options by their rules, in the order of the rules, and returns them frozen, with defaults, in an object that
 * inherits nothing. Never writes to the caller's object.
 *
 * @throws {InvalidOptionError} for an option that is invalid or unknown
 */
export function resolveOptions<Rules extends Readonly<Record<string, Rule<unknown>>>>(
  options: unknown,
  rules: Rules,
  names: OptionsOwner = {},
): Resolved<Rules> {
  const given = readOptions(options, Object.keys(rules), names);
  const prefix = prefixOf(names);
  const resolved: Record<string, unknown> = ownFields({});
  for (const [name, rule] of Object.entries(rules))
    resolved[name] = rule(given[name], prefix + name);
  return Object.freeze(resolved) as Resolved<Rules>;
}

/**
 * Copies options once, and does not check their values: for a function that passes them on.
 *
 * @throws {InvalidOptionError} for what is no object, and for an unknown option. If a mistyped `timeout` were ignored,
 * the default of `timeoutMs` would apply unnoticed
 */
export function readOptions<Name extends string>(
  options: unknown,
  known: readonly Name[],
  names: OptionsOwner = {},
): Readonly<Record<Name, unknown>> {
  if (!isObject(options)) {
    const { owner = 'options', holds = known.join(', ') } = names;
    throw invalidOption(owner, `an object with ${holds}`, options);
  }
  const given = ownFields(options) as Readonly<Record<Name, unknown>>;
  const unknown = Object.keys(given).find((name) => !known.includes(name as Name));
  if (unknown !== undefined) throw unknownOption(unknown, known, prefixOf(names));
  return given;
}

const prefixOf = ({ owner }: OptionsOwner): string => (owner === undefined ? '' : `${owner}.`);

/** An option that has options of its own. */
export function objectOf<Rules extends Readonly<Record<string, Rule<unknown>>>>(
  rules: Rules,
): Rule<Resolved<Rules>> {
  return (value, option) => resolveOptions(value, rules, { owner: option });
}

/**
 * Creates the error for an invalid option. Never quotes text, which may be a secret.
 *
 * @param expected what it must be, to follow "must be"
 * @param remedy what to do, to end the message
 * @param received describes the value
 */
export function invalidOption(
  option: string,
  expected: string,
  value: unknown,
  remedy = '',
  received = describeValue(value),
): InvalidOptionError {
  const what =
    value === undefined
      ? `${option} is missing; it must be ${expected}`
      : `${option} must be ${expected}; received ${received}`;
  return new InvalidOptionError(option, remedy === '' ? what : `${what}; ${remedy}`);
}

// A longer or stranger name is probably data spread into the options by mistake, perhaps a secret.
const QUOTABLE_NAME = /^[A-Za-z][A-Za-z0-9]{0,39}$/;

export const isQuotable = (name: string): boolean => QUOTABLE_NAME.test(name);

/** Creates the error for an unknown option, with the one that was probably meant. */
function unknownOption(
  unknown: string,
  known: readonly string[],
  prefix: string,
): InvalidOptionError {
  const shown = isQuotable(unknown) ? prefix + unknown : 'one of the names given';
  const meant = isQuotable(unknown) ? nearestOption(unknown, known) : undefined;
  const others = known.length === 0 ? 'leave it out' : `the options are ${known.join(', ')}`;
  const remedy = meant === undefined ? others : `use ${prefix}${meant}`;
  return new InvalidOptionError(shown, `${shown} is not a known option; ${remedy}`);
}

/** The option that `name` probably stands for: a similar one, or the same with its unit (`timeoutMs`). */
export function nearestOption(name: string, known: readonly string[]): string | undefined {
  const word = name.toLowerCase();
  const isLike = (option: string) => word.length > 3 && option.toLowerCase().includes(word);
  const same = known.find((option) => option.toLowerCase() === word);
  return same ?? nearest(name, known) ?? known.find(isLike);
}

export function optional<Value>(rule: Rule<Value>): Rule<Value | undefined> {
  return (value, option) => (value === undefined ? undefined : rule(value, option));
}

export function withDefault<Value>(fallback: NoInfer<Value>, rule: Rule<Value>): Rule<Value> {
  return (value, option) => (value === undefined ? fallback : rule(value, option));
}

export function matching<Value>(expected: string, is: (value: never) => boolean): Rule<Value> {
  return (value, option) => {
    if (is(value as never)) return value as Value;
    throw invalidOption(option, expected, value);
  };
}

export interface WholeNumberRange {
  readonly min?: number;
  readonly max?: number;
  /** The unit, in the plural: `milliseconds`. */
  readonly unit?: string;
}

/**
 * A whole number. Without this check NaN, negative and fractional values would become timers that fire at
 * once.
 */
export function wholeNumber({
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
  unit,
}: WholeNumberRange): Rule<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  const expected = `a whole number ${unit === undefined ? '' : `of ${unit} `}${range}`;
  return (value, option) => {
    if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) {
      return value as number;
    }
    // A number is not secret, and its value helps.
    const received = typeof value === 'number' ? String(value) : undefined;
    throw invalidOption(option, expected, value, '', received);
  };
}

/** The longest delay a timer takes, in milliseconds (24.8 days); a longer one fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

export function timerMs(min = 1): Rule<number> {
  return wholeNumber({ min, max: LONGEST_TIMER_MS, unit: 'milliseconds' });
}

export const boolean: Rule<boolean> = /* @__PURE__ */ matching(
  'true or false',
  (value: unknown) => typeof value === 'boolean',
);

export const text: Rule<string> = /* @__PURE__ */ matching(
  'a string that is not empty',
  (value: unknown) => typeof value === 'string' && value.trim() !== '',
);

/** A reference or key that the service gave, which may be blank. */
export const givenName: Rule<string> = /* @__PURE__ */ matching(
  'a string that is not empty',
  (value: unknown) => typeof value === 'string' && value !== '',
);

const PLACEHOLDER = /^(?:undefined|null|NaN|\[object Object\]|change[-_]?me)$/i;
const TEMPLATE = /^(?:\$\{[^{}]*\}|\{\{[^{}]*\}\}|<[a-z][\w -]*>)$/i;
const CHECK_VARIABLE = 'check that the variable it is read from is set';

/** A secret as text, which is no placeholder that anyone could guess. */
export const secretText: Rule<string> = (value, option) => {
  if (typeof value === 'string' && value.trim() === '') {
    throw invalidOption(option, 'a string that is not empty', value, CHECK_VARIABLE);
  }
  const secret = trimmedText(value, option);
  const placeholder = PLACEHOLDER.test(secret)
    ? `the placeholder ${secret}`
    : TEMPLATE.test(secret) && 'a template that was not filled in';
  const refuse = (rule: string) => new InvalidOptionError(option, `${option} must ${rule}`);
  if (placeholder) throw refuse(`be the value itself; received ${placeholder}: ${CHECK_VARIABLE}`);
  // In UTF-8 all lone surrogates are the same, so different secrets would have the same bytes.
  if (secret.isWellFormed()) return secret;
  throw refuse('not contain broken characters; copy it whole');
};

/** White space at an edge is a copying mistake that would otherwise show only as failures later. */
export const trimmedText: Rule<string> = (value, option) => {
  const given = text(value, option);
  if (given.trim() === given) return given;
  throw new InvalidOptionError(
    option,
    `${option} must not begin or end with white space; trim it where it is read`,
  );
};

export function oneOf<const Value extends string>(...values: readonly Value[]): Rule<Value> {
  const listed = values.map((value) => `'${value}'`).join(', ');
  return matching(`one of ${listed}`, (value) => values.includes(value));
}

/** @param purpose what the function does, for messages: `that returns epoch milliseconds` */
export function func<Fn extends (...args: never) => unknown>(purpose: string): Rule<Fn> {
  return matching(`a function ${purpose}`, (value) => typeof value === 'function');
}

/** A clock in epoch milliseconds; the system's by default. */
export const clock: Rule<() => number> = /* @__PURE__ */ withDefault(
  // Looked up at each call, since tests may fake it later.
  () => Date.now(),
  /* @__PURE__ */ func<() => number>('that returns epoch milliseconds'),
);

export const hasMethod = (value: unknown, method: string): boolean =>
  typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function';

/** An object of a library, recognised by its methods. */
export function withMethods<Value>(what: string, ...methods: readonly string[]): Rule<Value> {
  return matching(`${what} (with ${methods.join(', ')})`, (value: unknown) =>
    methods.every((method) => hasMethod(value, method)),
  );
}

export const date: Rule<Date> = (value, option) => {
  if (!(value instanceof Date)) throw invalidOption(option, 'a valid Date', value);
  if (!Number.isNaN(value.getTime())) return value;
  throw new InvalidOptionError(option, `${option} must be a valid Date; received an invalid one`);
};

export const standardSchema: Rule<StandardSchemaV1> = /* @__PURE__ */ matching(
  'a Standard Schema validator (zod, valibot, arktype, …)',
  isStandardSchema,
);

/** A list whose entries follow the rule. Returns a frozen copy. */
export function listOf<Value>(rule: Rule<Value>, what: string): Rule<readonly Value[]> {
  return (value, option) => {
    if (!Array.isArray(value)) throw invalidOption(option, `an array of ${what}`, value);
    // A hole is an entry too.
    return Object.freeze(Array.from(value, (entry, index) => rule(entry, `${option}[${index}]`)));
  };
}

/** The candidate that `word` probably stands for; `undefined` if none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const known = [...candidates];
  const within = (edits: number) => known.find((candidate) => isNear(word, candidate, edits));
  return within(0) ?? within(1) ?? (word.length > 3 ? within(2) : undefined);
}

/** Whether so many letters replaced, added or left out make one text of the other. */
function isNear(one: string, other: string, edits: number): boolean {
  if (one === other || edits === 0) return one === other;
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return isNear(rest, otherRest, edits);
  const areNear = (left: string, right: string) => isNear(left, right, edits - 1);
  return areNear(rest, otherRest) || areNear(rest, other) || areNear(one, otherRest);
}
