/**
 * Reads a field once. It must be the object's own, or come from a class of the caller's, which may have accessors: what
 * Object.prototype has was planted there, by a bug or an attack on the process.
 */
export function fieldOf(value: object, name: PropertyKey): unknown {
  let holder: object | null = value;
  while (holder !== null && !Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder);
  // Without a holder the object may be a Proxy that answers to any name.
  if (holder !== null && holder !== value && isObjectPrototype(holder)) return undefined;
  return (value as Readonly<Record<PropertyKey, unknown>>)[name];
}

/** Whether it is the kind of object that has this field. Unlike `in`, it does not find what Object.prototype has. */
export const hasOwn = <Value extends object, Name extends PropertyKey>(
  value: Value,
  name: Name,
): value is Extract<Value, { readonly [Field in Name]: unknown }> => Object.hasOwn(value, name);

/** As {@link fieldOf}, of any value. */
export const fieldOfAny = (value: unknown, name: PropertyKey): unknown =>
  value === undefined || value === null ? undefined : fieldOf(Object(value), name);

/** Whether it is the Object.prototype of this realm or another, such as that of a test runner. */
function isObjectPrototype(value: object): boolean {
  return (
    value === Object.prototype ||
    (Object.getPrototypeOf(value) === null && Object.hasOwn(value, 'hasOwnProperty'))
  );
}

/** Whether a value is an object that can have fields. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Its objects inherit nothing. V8 makes them in a third of the time that it takes for Object.create(null). */
class Own {}
Object.setPrototypeOf(Own.prototype, null);
Reflect.deleteProperty(Own.prototype, 'constructor');

/** A copy that inherits nothing, for an object whose optional fields Object.prototype must not set. */
export const ownFields = <Fields extends object>(fields: Fields): Fields =>
  Object.assign(new Own(), fields);

/** Whether an object is plain. One of a caller's class may have fields that are private to it. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Copies an object, each field read once: those of a plain one, and the known ones that a class of the caller's has. */
export function readOnce(value: object, known: readonly string[]): Record<string, unknown> {
  const own = isPlain(value) ? Object.keys(value) : [];
  const others = known.filter((name) => !own.includes(name));
  const read = (name: string): [string, unknown] => [name, fieldOf(value, name)];
  const inherited = others.map(read).filter(([, field]) => field !== undefined);
  return ownFields(Object.fromEntries([...own.map(read), ...inherited]));
}
