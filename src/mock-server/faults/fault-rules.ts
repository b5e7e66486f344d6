import * as z from 'zod/mini';
import { InvalidOptionError } from '../../errors.js';
import { invalidOption } from '../../protocol/options.js';
import { fieldOf, isObject, readOnce } from '../../protocol/own-fields.js';
import { fields } from '../../protocol/schema.js';
import {
  json,
  oneOf,
  parseStrictly,
  strictFields,
  text,
  wholeNumber,
} from '../../protocol/strict-schema.js';
import type { CallbackFault, Fault, RequestFault } from './fault.js';
import {
  defaultOf,
  type FaultEntry,
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

/** A fault as it was given, each field read once, and as it applies. */
interface ReadFault {
  readonly given: Readonly<Record<string, unknown>>;
  readonly checked: CheckedRequestFault | CheckedCallbackFault;
}

/**
 * Checks a fault. Unknown fields are refused: a misspelt one would change what a test tests.
 *
 * @throws {InvalidOptionError} naming the field that is invalid
 */
export function readFault(fault: unknown): ReadFault {
  const given = isObject(fault) ? readOnce(fault, FIELDS) : fault;
  const { on } = parseStrictly(target, given, 'fault');
  const { type } = parseStrictly(types[on], given, 'fault');
  const checked = parseStrictly(schemas[type], given, 'fault') as ReadFault['checked'];
  return { given: given as ReadFault['given'], checked };
}

/** @throws {InvalidOptionError} when a callback can't be resent with this fault */
export function checkResendFault(fault: unknown): CheckedCallbackFault {
  const { given, checked } = readFault(fault);
  if (checked.on !== 'callback') throw invalidOption('fault.on', "'callback'", checked.on);
  for (const field of ['times', 'match'] as const) {
    if (fieldOf(given, field) === undefined) continue;
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
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));

// Made once, when nothing can have polluted Object.prototype yet.

const HOLDS = 'an object with on and type';

const target = fields({ on: oneOf(...faultTargets) }, HOLDS);

const typesOn = (on: FaultTarget) => fields({ type: oneOf(...faultTypesOn(on)) }, HOLDS);
const types = { request: typesOn('request'), callback: typesOn('callback') };

const schemas = mapValues(
  faultCatalogue as Readonly<Record<string, FaultEntry>>,
  ({ on, parameters = {} }, type) =>
    strictFields(
      {
        on: z.literal(on, `'${on}'`),
        type: z.literal(type, `'${type}'`),
        ...mapValues(parameters, schemaOf),
        times: z._default(wholeNumber({ min: 1, unit: 'times' }, true), 1),
        match: z.optional(matchOf(on)),
      },
      HOLDS,
    ),
) as Record<Fault['type'], z.ZodMiniType>;

const FIELDS = [
  ...new Set(
    Object.values<FaultEntry>(faultCatalogue).flatMap(({ parameters = {} }) =>
      Object.keys(parameters),
    ),
  ),
  ...['on', 'type', 'times', 'match'],
];
