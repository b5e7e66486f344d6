import * as z from 'zod/mini';
import { InvalidOptionError } from '../../errors.js';
import { invalidOption } from '../../protocol/options.js';
import { fields } from '../../protocol/schema.js';
import {
  json,
  oneOf,
  parseStrictly,
  strictFields,
  text,
  wholeNumber,
} from '../../protocol/strict-schema.js';
import type { CallbackFault, RequestFault } from './fault.js';
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

const HOLDS = 'an object with on and type';

/**
 * Checks a fault. Unknown fields are refused: a misspelt one would change what a test tests.
 *
 * @throws {InvalidOptionError} naming the field that is invalid
 */
export function checkFault(fault: unknown): CheckedRequestFault | CheckedCallbackFault {
  const { on } = parseStrictly(fields({ on: oneOf(...faultTargets) }, HOLDS), fault, 'fault');
  const types = fields({ type: oneOf(...faultTypesOn(on)) }, HOLDS);
  const { type } = parseStrictly(types, fault, 'fault');
  const { parameters = {} } = faultCatalogue[type];
  const schema = strictFields(
    {
      on: z.literal(on, `'${on}'`),
      type: z.literal(type, `'${type}'`),
      ...mapValues(parameters, schemaOf),
      times: z._default(wholeNumber({ min: 1, unit: 'times' }, true), 1),
      match: z.optional(matchOf(on)),
    },
    HOLDS,
  );
  return parseStrictly(schema, fault, 'fault') as ReturnType<typeof checkFault>;
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

function schemaOf(parameter: FaultParameter): z.ZodMiniType {
  const fallback = defaultOf(parameter);
  const schema = plainSchemaOf(parameter);
  return fallback === undefined ? schema : z._default(schema, fallback);
}

function plainSchemaOf(parameter: FaultParameter): z.ZodMiniType {
  if (parameter.kind === 'number') return wholeNumber(parameter);
  if (parameter.kind === 'choice') return oneOf(...parameter.choices);
  return parameter.kind === 'json' ? json : text;
}

const attempts = wholeNumber({ min: 1, unit: 'attempts' });

const matchOf = (target: FaultTarget) =>
  strictFields(
    mapValues(matchFields[target], (kind) => z.optional(kind === 'number' ? attempts : text)),
  );

const mapValues = <Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
