import { KeyObject } from 'node:crypto';
import { inspect, types } from 'node:util';
import { ApiError, ResponseError } from '../../src/errors.js';

export interface Shown {
  /** What shows it. */
  readonly by: string;
  readonly text: string | Uint8Array;
}

/** Everything that a value shows when it is printed, written or inspected. */
export function shownBy(value: unknown): Shown[] {
  if (typeof value === 'string') return [{ by: 'itself', text: value }];
  return [...printed(value), ...reached(value)];
}

// Getters are read one by one below, which knows those that are deliberate.
const EVERYTHING = {
  showHidden: true,
  depth: Number.POSITIVE_INFINITY,
  maxArrayLength: null,
  maxStringLength: null,
} as const;

function printed(value: unknown): Shown[] {
  const ways: Record<string, () => string | undefined> = {
    'String()': () => String(value),
    'JSON.stringify': () => JSON.stringify(value),
    'console.log': () => inspect(value),
    inspect: () => inspect(value, EVERYTHING),
    'inspect without the custom one': () => inspect(value, { ...EVERYTHING, customInspect: false }),
  };
  return Object.entries(ways).flatMap(([by, print]) => {
    const text = attempt(print);
    return text === undefined ? [] : [{ by, text }];
  });
}

function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

// What these have is known, and none of it is a value's own.
const ENDS: ReadonlySet<unknown> = new Set([
  null,
  Object.prototype,
  Function.prototype,
  Array.prototype,
  globalThis,
  process,
]);

const MOST_OBJECTS = 20_000;

/** The answer of the service is behind an error's `response`, for whoever asks for it by that name. */
function isByName(owner: object, key: PropertyKey): boolean {
  return key === 'response' && (owner === ApiError.prototype || owner === ResponseError.prototype);
}

/** What properties lead to, names and getters of the prototypes included. */
function reached(root: unknown): Shown[] {
  const shown: Shown[] = [];
  const seen = new Set<object>();
  const queue: { path: string; value: unknown }[] = [{ path: 'value', value: root }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { path, value } = next;
    const text = contentsOf(value);
    if (text !== undefined) shown.push({ by: path, text });
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) continue;
    if (seen.has(value) || ENDS.has(value)) continue;
    seen.add(value);
    if (seen.size > MOST_OBJECTS) throw new Error(`${path} leads too far`);
    queue.push(...children(value, path));
  }
  return shown;
}

function contentsOf(value: unknown): string | Uint8Array | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'symbol') return value.description;
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  if (value instanceof KeyObject && value.type === 'secret') return value.export();
  return undefined;
}

function children(value: object, path: string): { path: string; value: unknown }[] {
  if (ArrayBuffer.isView(value)) return [];
  const found: { path: string; value: unknown }[] = [];
  if (Symbol.iterator in value && typeof value !== 'function') {
    const items = attempt(() => [...(value as Iterable<unknown>)]) ?? [];
    found.push(...items.map((item, index) => ({ path: `${path}[${index}]`, value: item })));
  }
  for (let owner: unknown = value; !ENDS.has(owner); owner = Object.getPrototypeOf(owner)) {
    for (const key of Reflect.ownKeys(owner as object)) {
      // Classes are looked at by themselves, not again for each of their objects.
      if (key === 'constructor' || isByName(owner as object, key)) continue;
      const name = `${path}.${String(key)}`;
      found.push({ path: name, value: key });
      // Of the value, not of the prototype: that is whom a getter tells.
      const property = attempt(() => (value as Record<PropertyKey, unknown>)[key]);
      if (types.isPromise(property)) property.catch(() => undefined);
      found.push({ path: name, value: property });
    }
  }
  return found;
}
