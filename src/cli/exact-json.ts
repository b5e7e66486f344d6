import { UsageError } from './command.js';

const SHOWN_CHARACTERS = 40;

// Of a text that is JSON: strings (keys with their colon), numbers, and what opens and closes.
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/g;

/**
 * A value of JSON that is sent as it was typed: no number of it changes, and no field is lost.
 *
 * @throws {SyntaxError} for what is not JSON
 * @throws {UsageError} for a number that a double does not carry, and for a field that is given twice
 */
export function parseExactJson(name: string, text: string): unknown {
  const value: unknown = JSON.parse(text);
  const open: Set<string>[] = [];
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (string === undefined) assertExactNumber(name, token);
    else if (colon !== undefined) addKey(name, JSON.parse(string), open.at(-1));
  }
  return value;
}

function addKey(name: string, key: string, keys: Set<string> | undefined): void {
  if (keys?.has(key) === true) {
    throw new UsageError(
      `${name} has the field ${JSON.stringify(shorten(key))} twice in one object: give it once`,
    );
  }
  keys?.add(key);
}

function assertExactNumber(name: string, token: string): void {
  const sent = JSON.stringify(Number(token));
  if (normalize(token) === normalize(sent)) return;
  throw new UsageError(
    `${name} has the number ${shorten(token)}, which would be sent as ${sent}: give one that a number of JSON carries exactly, or a text`,
  );
}

const shorten = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** One text for all ways to write the same number, and the text itself for what is none. */
function normalize(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return text;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const zeros = digits.length - significant.length;
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(zeros)}`;
}
