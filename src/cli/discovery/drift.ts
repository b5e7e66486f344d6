import type { ServiceProfile } from 'merchant-payments/mock-server';
import { placeholder } from '../../protocol/service-profile.js';

/** A point at which the service no longer does what a profile says. */
export interface Drift {
  /** Where it stands in the profile, for example `creation.status`. */
  readonly point: string;
  /** What the profile says; absent where it says nothing. */
  readonly before?: unknown;
  /** What was seen now. */
  readonly now?: unknown;
}

/** What has changed since a profile was made, of what both runs have learned. */
export function findDrift(before: ServiceProfile, now: ServiceProfile): readonly Drift[] {
  const [old, recent] = [learned(before), learned(now)];
  // Without callbacks it is not known which field identifies a payment.
  const isHeard = [before, now].every(({ callbacks }) => Object.keys(callbacks).length > 0);
  const isSame = (one: unknown, other: unknown): boolean =>
    one === other || (!isHeard && [one, other].every((value) => identifiers.includes(value)));
  return [...old].flatMap(([name, value]) => {
    const other = recent.get(name);
    if (other === undefined) return [];
    const [was, is] = [new Map(list(value, name)), new Map(list(other, name))];
    return [...new Set([...was.keys(), ...is.keys()])]
      .filter((point) => !isSame(was.get(point), is.get(point)))
      .map((point) => ({ point, before: was.get(point), now: is.get(point) }));
  });
}

const identifiers: readonly unknown[] = [
  placeholder('referenceNumber'),
  placeholder('uuid'),
  placeholder('text'),
];

/** What was learned, by its name. */
function learned({ creation, repeatedReference, invalid, callbacks }: ServiceProfile) {
  const named = (group: string, points: object) =>
    Object.entries(points).map(([name, value]) => [`${group}.${name}`, value] as const);
  const all = [
    ['creation', creation] as const,
    ['repeatedReference', repeatedReference] as const,
    ...named('invalid', invalid),
    ...named('callbacks', callbacks),
  ];
  return new Map<string, unknown>(all.filter(([, value]) => value !== undefined));
}

/** Every value below a point, by its path. */
function list(value: unknown, path: string): [point: string, value: unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  if (fields.length === 0) return [[path, JSON.stringify(value)]];
  return fields.flatMap(([name, field]) => list(field, `${path}.${name}`));
}
