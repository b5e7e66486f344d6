/**
 * Says what kind of value came, for error messages. Never quotes text: it may be a secret or a
 * customer's data.
 */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'number') return describeNumber(value);
  if (typeof value === 'string') return describeText(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function describeNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? 'a number' : 'an infinite number';
}

function describeText(value: string): string {
  if (value === '') return 'an empty string';
  return value.trim() === '' ? 'a blank string' : `a string of ${value.length} characters`;
}
