import type { ControlFault, ControlFaults } from '../mock-server/control/control-types.js';
import {
  type FaultParameter,
  type FaultTarget,
  faultCatalogue,
  faultTypesOn,
  matchFields,
} from '../mock-server/faults/fault-catalogue.js';
import { nearest } from '../protocol/nearest.js';
import { plainJson } from '../protocol/plain-text.js';
import { type Definition, list, type Outcome, text, UsageError } from './command.js';
import { ControlRefusal } from './control-client.js';
import { type Column, formatTable } from './layout.js';
import { parseExactDecimal, parseJsonOrText, parsePair } from './option-values.js';

type Fields = Readonly<Record<string, unknown>>;
type Kinds = Readonly<Record<string, FaultParameter['kind']>>;

/** Returns the kind of each parameter of a fault. */
export function parametersOf(type: keyof typeof faultCatalogue): Kinds {
  const { parameters = {} } = faultCatalogue[type];
  return Object.fromEntries(Object.entries(parameters).map(([name, { kind }]) => [name, kind]));
}

/** Describes the faults of a target for the help: type, parameters, effect. */
export function describeFaults(on: FaultTarget): Definition[] {
  return faultTypesOn(on).map((type) => {
    const names = Object.keys(parametersOf(type)).join(', ');
    return {
      term: names === '' ? type : `${type} (${names})`,
      text: faultCatalogue[type].text,
    };
  });
}

/** `--fault` and `--set` of the commands that send a callback with a fault. */
export const callbackFaultOptions = (help: string) => ({
  fault: text({ value: 'type', choices: faultTypesOn('callback'), help }),
  set: list({ value: 'field=value', help: 'A field of the fault, such as copies=3.' }),
});

/** @throws {UsageError} for a fault that no callback has, or fields without a fault */
export function readCallbackFault({
  fault,
  set,
}: {
  readonly fault: string | undefined;
  readonly set: readonly string[];
}): Fields | undefined {
  if (fault !== undefined) return readFaultType('callback', fault, set);
  if (set.length === 0) return undefined;
  throw new UsageError('--set sets a field of a fault: give --fault too');
}

/**
 * Reads the type of a fault and its parameters.
 *
 * @throws {UsageError} for an unknown type or parameter
 */
export function readFaultType(on: FaultTarget, type: string, set: readonly string[]): Fields {
  const types = faultTypesOn(on);
  const found = types.find((one) => one === type);
  if (found === undefined) {
    const close = nearest(type, types);
    const remedy =
      close === undefined ? `available: ${types.join(', ')}` : `did you mean ${close}?`;
    throw new UsageError(`there is no fault "${type}" on a ${on}; ${remedy}`);
  }
  return { on, type, ...readFields('--set', `a ${type} fault`, parametersOf(found), set) };
}

/** @throws {UsageError} for a field that faults on this target can't match */
export function readFaultMatch(on: FaultTarget, match: readonly string[]): Fields {
  return readFields('--match', `the match of a ${on} fault`, matchFields[on], match);
}

function readFields(option: string, owner: string, kinds: Kinds, pairs: readonly string[]): Fields {
  const fields: Record<string, unknown> = {};
  for (const pair of pairs) {
    const { name, value } = parsePair(option, pair);
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const known = Object.keys(kinds).join(', ') || 'none';
      throw new UsageError(`${option} ${name} is not a field of ${owner}; it has ${known}`);
    }
    if (Object.hasOwn(fields, name)) throw new UsageError(`${option} ${name} was given twice`);
    if (kind === 'number') fields[name] = parseExactDecimal(`${option} ${name}`, value);
    else fields[name] = kind === 'json' ? parseJsonOrText(`${option} ${name}`, value) : value;
  }
  return fields;
}

/**
 * Turns the mock's refusal of a fault into an error that names the flag of the invalid field, or
 * `--fault-json`. Returns any other error unchanged.
 */
export function toFaultUsageError(error: unknown, given: 'flags' | 'json'): unknown {
  if (!(error instanceof ControlRefusal && error.code === 'INVALID_REQUEST')) return error;
  const [, owner, field] = error.field?.split('.') ?? [];
  const flag =
    given === 'json'
      ? '--fault-json'
      : owner === 'times'
        ? '--times'
        : owner === 'match'
          ? `--match ${field}=…`
          : `--set ${owner}=…`;
  return new UsageError(owner === undefined ? error.message : `${flag}: ${error.message}`);
}

const columns: readonly Column<ControlFault>[] = [
  { title: 'ID', text: ({ id }) => id, align: 'right' },
  { title: 'ON', text: ({ on }) => on },
  { title: 'TYPE', text: ({ type }) => type, style: () => 'yellow' },
  { title: 'TIMES LEFT', text: ({ times }) => String(times ?? 1), align: 'right' },
  { title: 'MATCH', text: ({ match }) => describeFields(match ?? {}) },
  {
    title: 'FIELDS',
    text: ({ id: _id, on: _on, type: _type, times: _times, match: _match, ...own }) =>
      describeFields(own),
  },
];

/** Shows what was done, and below it the pending faults. */
export function showFaults(answer: ControlFaults, ...done: readonly string[]): Outcome {
  const { faults } = answer;
  if (faults.length === 0) {
    return { json: answer, lines: () => done, note: 'no faults are pending' };
  }
  return { json: answer, lines: (layout) => [...done, ...formatTable(columns, faults, layout)] };
}

function describeFields(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : plainJson(value)}`)
    .join(' ');
}
