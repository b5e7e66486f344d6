/** Escapes JSON beyond ASCII, so that it does not depend on the character set of a connection or a database. */
export function toAsciiJson(json: string): string {
  return json.replaceAll(BEYOND_ASCII, toEscape);
}

const BEYOND_ASCII = /[\u0080-\uffff]/g;

function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
