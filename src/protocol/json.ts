import { describeValue } from './describe-value.js';
import { fieldOf, isPlain } from './own-fields.js';

/** Why a value can't be sent as it is. */
export class NotJson {
  readonly path: readonly PropertyKey[];
  /** What the value must be. */
  readonly expected: string;
  /** Describes the value, without quoting it. */
  readonly received: string;

  constructor(path: readonly PropertyKey[], expected: string, received: string) {
    this.path = path;
    this.expected = expected;
    this.received = received;
  }
}

/** Where the writer is. */
interface Place {
  /** To the value. A writer that throws leaves it there. */
  readonly path: PropertyKey[];
  /** The objects around the value. */
  readonly around: object[];
}

// A deeper value would exhaust the stack of this writer, or of the service's parser.
const MAX_DEPTH = 500;

/**
 * Writes a value as JSON. It is read once, so that what was checked is what is sent. What JSON.stringify would leave
 * out or change is refused, as functions, symbols, bigints, NaN and infinity, `undefined` in a list, a Map or a Set,
 * and an object whose class shows no fields. A field that is `undefined` is left out, as an option is. An object's own toJSON, or that
 * of its class, is called: a Date becomes its ISO text.
 *
 * @throws {NotJson} for the first value that JSON does not carry
 */
export const writeJson = (value: unknown, ...path: readonly PropertyKey[]): string =>
  refusing(path, (place) => write(value, place));

/**
 * Copies the fields of an object, each read once.
 *
 * @throws {NotJson} for an object whose fields JSON does not show
 */
export const readFields = (
  value: object,
  ...path: readonly PropertyKey[]
): Record<string, unknown> =>
  refusing(path, (place) => {
    assertFieldsShow(value, place);
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

function refusing<Result>(path: readonly PropertyKey[], work: (place: Place) => Result): Result {
  const place: Place = { path: [...path], around: [] };
  try {
    return work(place);
  } catch (error) {
    if (error instanceof NotJson) throw error;
    // The error could quote the value.
    throw refusal(place, READABLE, 'one whose getter, toJSON or Proxy failed');
  }
}

/** @throws {NotJson} for an object whose entries or fields JSON would leave out */
function assertFieldsShow(value: object, place: Place): void {
  if (!isPlain(value)) {
    if (fieldOf(value, Symbol.iterator) !== undefined) {
      throw refusal(place, READABLE, 'one with entries, such as a Map, which JSON would leave out');
    }
    if (Object.keys(value).length === 0) {
      throw refusal(place, READABLE, 'one whose class shows no fields');
    }
  }
  // Afterwards: Node gives symbols to promises that async_hooks watch.
  const symbols = Object.getOwnPropertySymbols(value);
  if (symbols.some((symbol) => Object.getOwnPropertyDescriptor(value, symbol)?.enumerable)) {
    throw refusal(place, READABLE, 'one with a symbol as a name');
  }
}

const READABLE = 'a plain object, an array or an object with toJSON';

const refusal = ({ path }: Place, expected: string, received: string): NotJson =>
  new NotJson([...path], expected, received);

function write(value: unknown, place: Place): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object') return writeObject(value, place);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return JSON.stringify(value);
    throw refusal(place, 'a finite number', describeValue(value));
  }
  throw refusal(place, 'a value that JSON can carry', describeValue(value));
}

// Newer than Node 20: a number as text, which keeps digits that a number loses.
const { isRawJSON } = JSON as { isRawJSON?(value: object): boolean };

function writeObject(value: object, place: Place): string {
  if (isRawJSON?.(value)) return JSON.stringify(value);
  if (place.around.includes(value)) {
    throw refusal(place, 'a value that JSON can carry', 'an object that contains itself');
  }
  if (place.around.length === MAX_DEPTH) {
    place.path.length = 1;
    throw refusal(place, `at most ${MAX_DEPTH} levels deep`, 'more');
  }
  place.around.push(value);
  const text = Array.isArray(value) ? writeList(value, place) : writeUnlisted(value, place);
  place.around.pop();
  return text;
}

function writeUnlisted(value: object, place: Place): string {
  const toJSON = fieldOf(value, 'toJSON');
  if (typeof toJSON !== 'function') return writeFields(value, place);
  // Not instanceof: test runners have a second Date class.
  if (Object.prototype.toString.call(value) === '[object Date]' && Number.isNaN(Number(value))) {
    throw refusal(place, 'a valid Date', 'an invalid one');
  }
  const result: unknown = toJSON.call(value, String(place.path.at(-1) ?? ''));
  if (typeof result !== 'object' || result === null) return write(result, place);
  // As JSON.stringify, which does not call the toJSON of a result.
  return Array.isArray(result) ? writeList(result, place) : writeFields(result, place);
}

function writeFields(value: object, place: Place): string {
  assertFieldsShow(value, place);
  const texts: string[] = [];
  for (const name of Object.keys(value)) {
    place.path.push(name);
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field !== undefined) texts.push(`${JSON.stringify(name)}:${write(field, place)}`);
    place.path.pop();
  }
  return `{${texts.join(',')}}`;
}

function writeList(list: readonly unknown[], place: Place): string {
  const texts: string[] = [];
  for (let index = 0; index < list.length; index += 1) {
    place.path.push(String(index));
    // Array.prototype may have an entry where the list has a hole.
    texts.push(write(Object.hasOwn(list, index) ? list[index] : undefined, place));
    place.path.pop();
  }
  if (Object.keys(list).length === texts.length) return `[${texts.join(',')}]`;
  throw refusal(place, 'a list without names', 'one with a name, which JSON would leave out');
}
