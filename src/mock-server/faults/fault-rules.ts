import { InvalidOptionError } from '../../errors.js';
import {
  invalidOption,
  oneOf,
  optional,
  type Rule,
  resolveOptions,
  text,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import type { CallbackFault, Fault, RequestFault } from './fault.js';
import {
  defaultOf,
  type FaultParameter,
  type FaultTarget,
  faultCatalogue,
  faultTargets,
  faultTypesOn,
  matchFields,
} from './fault-catalogue.js';

/** A valid fault, with the defaults of its parameters. */
type Checked<AnyFault> = AnyFault extends unknown
  ? {
      readonly [Key in Exclude<keyof AnyFault, 'match'>]-?: Exclude<AnyFault[Key], undefined>;
    } & { readonly match?: Readonly<Record<string, unknown>> | undefined }
  : never;
export type CheckedRequestFault = Checked<RequestFault>;
export type CheckedCallbackFault = Checked<CallbackFault>;

const times: Rule<number> = (value, option) =>
  value === Number.POSITIVE_INFINITY
    ? value
    : wholeNumber({ min: 1, unit: 'times' })(value, option);

/** Copies the value, so that later changes to the caller's object have no effect. */
export const json: Rule<unknown> = (value, option) => {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    throw invalidOption(option, 'a value that JSON can carry', value);
  }
};

/**
 * Checks a fault. Unknown fields are refused: a misspelt one would change what a test tests.
 *
 * @throws {InvalidOptionError} naming the field that is invalid
 */
export function checkFault(fault: unknown): CheckedRequestFault | CheckedCallbackFault {
  const holds = 'on and type';
  if (typeof fault !== 'object' || fault === null) {
    throw invalidOption('fault', `an object with ${holds}`, fault);
  }
  const { on, type } = fault as Partial<Fault>;
  const target = oneOf(...faultTargets)(on, 'fault.on');
  const known = oneOf(...faultTypesOn(target))(type, 'fault.type');
  const { parameters = {} } = faultCatalogue[known];
  const rules = {
    on: () => target,
    type: () => known,
    ...Object.fromEntries(
      Object.entries(parameters).map(([name, parameter]) => [name, ruleOf(parameter)]),
    ),
    times: withDefault(1, times),
    match: optional(matchRule(target)),
  };
  return resolveOptions(fault, rules, { owner: 'fault', holds }) as ReturnType<typeof checkFault>;
}

/** @throws {InvalidOptionError} when a callback can't be resent with this fault */
export function checkResendFault(fault: unknown): CheckedCallbackFault {
  const checked = checkFault(fault);
  if (checked.on !== 'callback') throw invalidOption('fault.on', "'callback'", checked.on);
  for (const field of ['times', 'match'] as const) {
    if ((fault as CallbackFault)[field] === undefined) continue;
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
  return fallback === undefined ? rule : withDefault<unknown>(fallback, rule);
}

function plainRuleOf(parameter: FaultParameter): Rule<unknown> {
  if (parameter.kind === 'number') return wholeNumber(parameter);
  if (parameter.kind === 'choice') return oneOf(...parameter.choices);
  return parameter.kind === 'json' ? json : text;
}

function matchRule(target: FaultTarget): Rule<Readonly<Record<string, unknown>>> {
  const rules = Object.entries(matchFields[target]).map(([name, kind]) => [
    name,
    optional<unknown>(kind === 'number' ? wholeNumber({ min: 1, unit: 'attempts' }) : text),
  ]);
  return (value, owner) => resolveOptions(value, Object.fromEntries(rules), { owner });
}
