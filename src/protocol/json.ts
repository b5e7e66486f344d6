import { describeValue } from './describe-value.js';
import { invalidOption, isQuotable, type Rule } from './options.js';
import { isObject, isPlain } from './own-fields.js';

type Path = readonly PropertyKey[];

/** Why a value can't be sent as it is. */
export class NotJson {
  readonly path: Path;
  /** What the value must be. */
  readonly expected: string;
  /** Describes the value, without quoting it. */
  readonly received: string;

  constructor(path: Path, expected: string, received: string) {
    this.path = path;
    this.expected = expected;
    this.received = received;
  }
}

const CARRIED = 'a value that JSON can carry';
const READABLE = 'a plain object, an array or an object with toJSON';

/**
 * Writes a value as JSON.stringify does, and refuses what that would leave out or change: functions, symbols, bigints,
 * NaN and infinity, `undefined` in a list, a Map or a Set, and an object whose class shows no fields. A field that is
 * `undefined` is left out, as an option is.
 *
 * @throws {NotJson} for the first value that JSON does not carry
 */
export function writeJson(value: unknown, ...path: Path): string {
  const paths = new Map<unknown, Path>();
  try {
    return JSON.stringify(value, function (this: object, name: string, written: unknown) {
      const holder = paths.get(this);
      const at = holder === undefined ? path : [...holder, name];
      const given = (this as Readonly<Record<string, unknown>>)[name];
      const isLeftOut = given === undefined && holder !== undefined && !Array.isArray(this);
      if (!isLeftOut) assertCarried(given, written, at);
      paths.set(written, at);
      return written;
    });
  } catch (error) {
    if (error instanceof NotJson) throw error;
    const received = 'one that contains itself, is too deep, or has a getter or toJSON that fails';
    // Without the error, which could quote the value.
    throw new NotJson(path, CARRIED, received);
  }
}

/** @param written what is written of the value, by its toJSON for example */
function assertCarried(given: unknown, written: unknown, path: Path): void {
  if (typeof written === 'number' && !Number.isFinite(written)) {
    throw new NotJson(path, 'a finite number', describeValue(written));
  }
  if (['undefined', 'function', 'symbol', 'bigint'].includes(typeof written)) {
    throw new NotJson(path, CARRIED, describeValue(written));
  }
  // Not instanceof: test runners have a second Date class.
  if (written === null && Object.prototype.toString.call(given) === '[object Date]') {
    throw new NotJson(path, 'a valid Date', 'an invalid one');
  }
  const hidden = findHidden(written, path);
  if (hidden !== undefined) throw hidden;
}

/** What is wrong with an object whose entries or fields JSON would leave out. */
export function findHidden(value: unknown, path: Path): NotJson | undefined {
  if (!isObject(value) || isPlain(value)) return undefined;
  const hasEntries = Symbol.iterator in value;
  if (!hasEntries && Object.keys(value).length > 0) return undefined;
  const entries = 'one with entries, such as a Map, which JSON would leave out';
  return new NotJson(path, READABLE, hasEntries ? entries : 'one whose class shows no fields');
}

/** Any JSON value, as its text. */
export const jsonText: Rule<string> = (value, option) => {
  try {
    return writeJson(value);
  } catch (error) {
    const { path, expected, received } = error as NotJson;
    const join = (owner: string, key: PropertyKey) =>
      isQuotable(String(key)) ? `${owner}.${String(key)}` : `${owner}[…]`;
    throw invalidOption(path.reduce(join, option), expected, null, '', received);
  }
};

/** Any JSON value, copied, so that later changes to the caller's object have no effect. */
export const json: Rule<unknown> = (value, option) => JSON.parse(jsonText(value, option));

/**
 * Parses JSON. A number of which the parser loses digits, as one of JSON.rawJSON may be, becomes what `lost` returns.
 * A runtime without JSON.rawJSON has none.
 */
export function parseExactly(json: string, lost: (source: string) => unknown): unknown {
  return JSON.parse(json, (_name, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source;
    const isExact =
      typeof value !== 'number' || source === undefined || source === JSON.stringify(value);
    return isExact ? value : lost(source);
  });
}
