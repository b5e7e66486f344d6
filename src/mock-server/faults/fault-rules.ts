import { InvalidOptionError } from '../../errors.js';
import {
  assertOneOf,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
} from '../../protocol/assert-option.js';
import { describeValue } from '../../protocol/describe-value.js';
import type {
  CallbackFault,
  CallbackFaultMatch,
  Fault,
  RequestFault,
  RequestFaultMatch,
} from './fault-types.js';

type Rule = (option: string, value: unknown) => void;
type Rules = Readonly<Record<string, Rule>>;
type OwnFields<AnyFault, Type> = Exclude<
  keyof Extract<AnyFault, { type: Type }>,
  'on' | 'type' | 'times' | 'match'
>;
/** One rule for each field that a fault has beyond the common ones; the compiler keeps them complete. */
type FaultRules<AnyFault extends Fault> = {
  readonly [Type in AnyFault['type']]: Readonly<Record<OwnFields<AnyFault, Type>, Rule>>;
};

const text: Rule = (option, value) => {
  if (typeof value === 'string' && value !== '') return;
  throw new InvalidOptionError(
    option,
    `${option} must be a string that is not empty, but ${describeValue(value)} came`,
  );
};
const wholeNumber =
  (min: number, unit: string, max?: number): Rule =>
  (option, value) =>
    assertWholeNumber(option, value, max === undefined ? { min, unit } : { min, max, unit });
const oneOf =
  (...allowed: readonly string[]): Rule =>
  (option, value) =>
    assertOneOf(option, value, allowed);
const optional =
  (rule: Rule): Rule =>
  (option, value) => {
    if (value !== undefined) rule(option, value);
  };
const json: Rule = (option, value) => {
  if (isJson(value)) return;
  throw new InvalidOptionError(
    option,
    `${option} must be a value that JSON can carry, but ${describeValue(value)} came that it can't`,
  );
};
const serverErrorStatus: Rule = (option, value) => {
  if (Number.isInteger(value) && Number(value) >= 500 && Number(value) <= 599) return;
  throw new InvalidOptionError(
    option,
    `${option} must be an HTTP status from 500 to 599, but ${describeValue(value)} came`,
  );
};
const times: Rule = (option, value) => {
  if (value !== Number.POSITIVE_INFINITY) wholeNumber(1, 'times')(option, value);
};

// A century keeps every X-Timestamp within what a Date holds.
const bySeconds = optional(wholeNumber(1, 'seconds', 3_155_760_000));

const requestRules: FaultRules<RequestFault> = {
  delay: { delayMs: wholeNumber(0, 'milliseconds', LONGEST_TIMER_MS) },
  unauthorized: {},
  'rate-limit': { retryAfterSeconds: optional(wholeNumber(0, 'seconds')) },
  'server-error': { status: optional(serverErrorStatus) },
  'html-error': {},
  'malformed-json': {},
  'truncated-body': {},
  'empty-body': {},
  'reset-before-headers': {},
  'reset-in-body': {},
  hang: {},
  'lost-answer': {},
};

const callbackRules: FaultRules<CallbackFault> = {
  duplicate: {
    mode: optional(oneOf('in-turn', 'at-once')),
    copies: optional(wholeNumber(1, 'copies', 100)),
  },
  reorder: {},
  drop: {},
  'stale-timestamp': { bySeconds },
  'future-timestamp': { bySeconds },
  'tampered-body': {},
  'wrong-secret': {},
  'missing-header': { header: optional(oneOf('x-timestamp', 'x-signature', 'content-type')) },
  'reserialized-body': {},
  'unknown-status': { status: optional(text) },
  'extra-field': { field: optional(text), value: json },
};

const requestMatchRules: Readonly<Record<keyof RequestFaultMatch, Rule>> = {
  merchantPaymentReference: optional(text),
  method: optional(text),
  path: optional(text),
};

const callbackMatchRules: Readonly<Record<keyof CallbackFaultMatch, Rule>> = {
  referenceNumber: optional(text),
  merchantPaymentReference: optional(text),
  status: optional(text),
  attempt: optional(wholeNumber(1, 'attempts')),
};

/** @throws {InvalidOptionError} naming the field that can't be right */
export function assertFault(fault: unknown): asserts fault is Fault {
  assertFieldsObject('fault', fault, 'on and type');
  const { on, type, match } = fault as Record<string, unknown>;
  assertOneOf('fault.on', on, ['request', 'callback']);
  const rulesByType: Readonly<Record<string, Rules>> =
    on === 'request' ? requestRules : callbackRules;
  assertOneOf('fault.type', type, Object.keys(rulesByType));
  const own = rulesByType[type as string];
  const known: Rule = () => undefined;
  assertFields('fault', fault as object, {
    ...own,
    on: known,
    type: known,
    match: known,
    times: optional(times),
  });
  if (match === undefined) return;
  assertFieldsObject('fault.match', match, 'the fields to match');
  assertFields(
    'fault.match',
    match as object,
    on === 'request' ? requestMatchRules : callbackMatchRules,
  );
}

/** @throws {InvalidOptionError} for what is no fault to resend a callback with */
export function assertResendFault(fault: unknown): asserts fault is CallbackFault {
  assertFault(fault);
  assertOneOf('fault.on', fault.on, ['callback']);
  for (const field of ['times', 'match'] as const) {
    if (fault[field] === undefined) continue;
    throw new InvalidOptionError(
      `fault.${field}`,
      `fault.${field} must be left out when a callback is sent again, but it came: the fault is for the first attempt of this delivery`,
    );
  }
}

function assertFieldsObject(owner: string, value: unknown, holds: string): void {
  // An empty list has no wrong field, and would match everything.
  assertOptionsObject(owner, Array.isArray(value) ? undefined : value, holds);
}

// A misspelt field would silently change what a test tests, so it is refused.
function assertFields(owner: string, value: object, rules: Rules): void {
  const stray = Object.keys(value).find((field) => !Object.hasOwn(rules, field));
  if (stray !== undefined) {
    throw new InvalidOptionError(
      `${owner}.${stray}`,
      `${owner}.${stray} is not a field of this fault; it has ${Object.keys(rules).join(', ')}`,
    );
  }
  for (const [field, rule] of Object.entries(rules)) {
    rule(`${owner}.${field}`, (value as Record<string, unknown>)[field]);
  }
}

function isJson(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
