import { nearest } from '../protocol/nearest.js';
import { UsageError } from './command.js';
import {
  type FaultTarget,
  type FieldKind,
  faultCatalogue,
  matchFields,
} from './fault-catalogue.js';
import { parseExactDecimal, parseJsonOrText, parsePair } from './option-values.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The type of a fault and its own fields, from the command line.
 *
 * @throws {UsageError} for a type or field that the target does not have
 */
export function readFaultType(on: FaultTarget, type: string, set: readonly string[]): Fields {
  const catalogue = faultCatalogue[on];
  const entry = Object.hasOwn(catalogue, type) ? catalogue[type] : undefined;
  if (entry === undefined) {
    const close = nearest(type, Object.keys(catalogue));
    const known = Object.keys(catalogue).join(', ');
    throw new UsageError(
      `there is no fault "${type}" on a ${on}; ${close === undefined ? `there are ${known}` : `did you mean ${close}?`}`,
    );
  }
  return { on, type, ...readFields('--set', `a ${type} fault`, entry.fields, set) };
}

/** @throws {UsageError} for a field that faults on this target are not matched by */
export function readFaultMatch(on: FaultTarget, match: readonly string[]): Fields {
  return readFields('--match', `the match of a ${on} fault`, matchFields[on], match);
}

function readFields(
  option: string,
  owner: string,
  kinds: Readonly<Record<string, FieldKind>>,
  pairs: readonly string[],
): Fields {
  const fields: Record<string, unknown> = {};
  for (const pair of pairs) {
    const { name, value } = parsePair(option, pair);
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const known = Object.keys(kinds).join(', ') || 'none';
      throw new UsageError(`${option} ${name} is not a field of ${owner}; it has ${known}`);
    }
    if (Object.hasOwn(fields, name)) throw new UsageError(`${option} ${name} was given twice`);
    fields[name] = readField(`${option} ${name}`, kind, value);
  }
  return fields;
}

function readField(name: string, kind: FieldKind, text: string): unknown {
  if (kind === 'number') return parseExactDecimal(name, text);
  return kind === 'json' ? parseJsonOrText(name, text) : text;
}
