import { describeValue } from './describe-value.js';
import { isPlain } from './own-fields.js';

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

// A deeper value would exhaust the stack of JSON.stringify, or of the service's parser.
const MAX_DEPTH = 500;

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
  assertJson(value, ...path);
  return JSON.stringify(value);
}

/** @throws {NotJson} as {@link writeJson} */
export const assertJson = (value: unknown, ...path: Path): void =>
  refusing(path, () => assertCarried(value, path, []));

/**
 * Copies the fields of an object, each read once.
 *
 * @throws {NotJson} for an object whose fields JSON does not show
 */
export const readFields = (value: object, ...path: Path): Record<string, unknown> =>
  refusing(path, () => {
    assertFieldsShow(value, path);
    return { ...value };
  });

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

function refusing<Result>(path: Path, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotJson) throw error;
    // The error could quote the value.
    throw new NotJson(path, READABLE, 'one whose getter or toJSON failed');
  }
}

/** An object whose entries or fields JSON would leave out. */
function assertFieldsShow(value: object, path: Path): void {
  if (isPlain(value) || Array.isArray(value)) return;
  if (Symbol.iterator in value) {
    throw new NotJson(
      path,
      READABLE,
      'one with entries, such as a Map, which JSON would leave out',
    );
  }
  if (Object.keys(value).length > 0) return;
  throw new NotJson(path, READABLE, 'one whose class shows no fields');
}

// Newer than Node 20: a number as text, which keeps digits that a number loses.
const { isRawJSON } = JSON as { isRawJSON?(value: object): boolean };

const ALWAYS: readonly string[] = ['boolean', 'string'];

/** @param around the objects around the value */
function assertCarried(value: unknown, path: Path, around: readonly object[]): void {
  if (value === null || ALWAYS.includes(typeof value)) return;
  if (Number.isFinite(value)) return;
  if (typeof value === 'number') {
    throw new NotJson(path, 'a finite number', describeValue(value));
  }
  if (typeof value !== 'object') throw new NotJson(path, CARRIED, describeValue(value));
  if (isRawJSON?.(value)) return;
  if (around.includes(value)) {
    throw new NotJson(path, CARRIED, 'an object that contains itself');
  }
  if (around.length === MAX_DEPTH) {
    throw new NotJson(path.slice(0, 1), `at most ${MAX_DEPTH} levels deep`, 'more');
  }
  const { toJSON } = value as { toJSON?: unknown };
  const outside = [...around, value];
  if (typeof toJSON !== 'function') {
    assertAllCarried(value, path, outside);
    return;
  }
  // Not instanceof: test runners have a second Date class.
  if (Object.prototype.toString.call(value) === '[object Date]' && Number.isNaN(Number(value))) {
    throw new NotJson(path, 'a valid Date', 'an invalid one');
  }
  const result: unknown = toJSON.call(value, String(path.at(-1) ?? ''));
  if (typeof result !== 'object' || result === null) assertCarried(result, path, around);
  // JSON.stringify does not call the toJSON of a result.
  else assertAllCarried(result, path, outside);
}

/** What an object or a list contains. */
function assertAllCarried(value: object, path: Path, around: readonly object[]): void {
  if (Array.isArray(value)) {
    // A hole is written as `null`, as any `undefined` is.
    for (const [index, entry] of value.entries()) {
      assertCarried(entry, [...path, String(index)], around);
    }
    return;
  }
  assertFieldsShow(value, path);
  for (const [name, field] of Object.entries(value)) {
    if (field !== undefined) assertCarried(field, [...path, name], around);
  }
}
