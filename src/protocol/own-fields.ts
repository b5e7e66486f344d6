/** Whether a value is an object that can have fields. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Its objects inherit nothing. V8 makes them in a third of the time that it takes for Object.create(null). */
class Own {}
Object.setPrototypeOf(Own.prototype, null);
Reflect.deleteProperty(Own.prototype, 'constructor');

/** A copy that inherits nothing, each field read once. */
export const ownFields = <Fields extends object>(fields: Fields): Fields =>
  Object.assign(new Own(), fields);

/** Whether an object is plain, of this realm or another. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
