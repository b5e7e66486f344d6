import { markBodyEcho } from './body-echo.js';

export const REDACTED = '[redacted]';

// Less of a secret is of no use, and may be a word of an honest text.
const MIN_SECRET_PART = 12;

// The service may quote a field, a reference as long as a UUID for example. More than that, or the
// longest name of a field with the beginning of its value, is a part of the body.
const MIN_BODY_PART = 40;

// What is said in more is not searched but cut: a server must not keep the process busy.
const MAX_SEARCHED_LENGTH = 4_096;

// Nor by many texts.
const MAX_SEARCHED_IN_ALL = 4 * MAX_SEARCHED_LENGTH;

// A longer body is not spelled in every way, but the texts are decoded in every way.
const MAX_SPELLED_LENGTH = 2_048;

/** A secret, and the shortest fragment that must be redacted. */
export interface Redaction {
  readonly text: string;
  readonly minLength: number;
}

/** Takes secrets, and the body of a request, out of texts from outside. Shows nothing when printed. */
export class Redactor {
  readonly #redactions: readonly Redaction[];

  constructor(secrets: readonly string[]) {
    this.#redactions = secrets.flatMap((secret) => toRedactions(secret, MIN_SECRET_PART));
  }

  /**
   * The texts without any spelling of the secrets and of `requestBody`, in whole and in part: a server may
   * echo what it was sent, or the beginning of it. All at once, as each search takes time in proportion to
   * the body.
   */
  redactAll(texts: readonly string[], requestBody?: string): string[] {
    let redacted = texts.map((text) =>
      redactParts(text.slice(0, MAX_SEARCHED_LENGTH), this.#redactions),
    );
    if (requestBody) redacted = redactBody(redacted, requestBody);
    // The end may be the beginning of what was cut.
    return redacted.map((text, index) =>
      (texts[index] as string).length > MAX_SEARCHED_LENGTH ? text.slice(0, -MIN_BODY_PART) : text,
    );
  }
}

function redactBody(texts: readonly string[], body: string): string[] {
  // Most texts are too short to hold a part of the body.
  const minLength = Math.min(MIN_BODY_PART, body.length);
  const toShown = (text: string): string => (text.length < minLength ? text : REDACTED);
  let left = MAX_SEARCHED_IN_ALL;
  const searched = texts.map((text) => {
    if (text.length < minLength) return '';
    left -= text.length;
    return left < 0 ? '' : text;
  });
  // JSON has no NUL: no part of the body goes over from one text to the next.
  const joined = searched.join('\0');
  if (joined.length < minLength) return texts.map(toShown);
  const marks =
    body.length > MAX_SPELLED_LENGTH
      ? markBodyEcho(joined, body)
      : markSpacedParts(joined, toRedactions(body, MIN_BODY_PART));
  let start = 0;
  return texts.map((text, index) => {
    const { length } = searched[index] as string;
    const own = marks.subarray(start, start + length);
    start += length + 1;
    return length > 0 ? replaceMarked(text, own) : toShown(text);
  });
}

function toRedactions(secret: string, minLength: number): Redaction[] {
  return [...new Set(spellings(secret))].map((text) => ({ text, minLength }));
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  const hex = bytes.toString('hex');
  const url = encodeURIComponent(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    bytes.toString('latin1'),
    url,
    url.replaceAll(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    json,
    JSON.stringify(json).slice(1, -1),
    // As serializers write JSON that is safe in HTML: Go's, .NET's, and those that escape the most.
    ...[/[<>&]/g, /[<>&'"`+]/g, /[^A-Za-z0-9]/g].flatMap((escaped) =>
      escapeUnicode(secret, escaped),
    ),
    // As a program quotes it that prints a text, with the one or the other quote around.
    secret.replaceAll(/['\\]/g, '\\$&'),
    secret.replaceAll('\\', '\\\\'),
    escapeHtml(secret),
    base64,
    encodeURIComponent(base64),
    // Padding is left off at times; what remains can be decoded all the same.
    base64.replaceAll('=', ''),
    bytes.toString('base64url'),
    ...shiftedBase64(bytes),
    hex,
    hex.toUpperCase(),
  ];
}

function escapeUnicode(text: string, escaped: RegExp): string[] {
  const digits = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0');
  return [
    text.replaceAll(escaped, (character) => `\\u${digits(character)}`),
    text.replaceAll(escaped, (character) => `\\u${digits(character).toUpperCase()}`),
  ];
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Base64 of something that holds the secret: three bytes are four characters, so there are three. */
function shiftedBase64(secret: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret]);
    // Without the characters that depend on what stands before or after.
    const start = Math.ceil((before * 4) / 3);
    const end = Math.floor((bytes.length * 4) / 3);
    return [bytes.toString('base64'), bytes.toString('base64url')]
      .map((text) => text.slice(start, end))
      .filter((text) => text.length >= MIN_SECRET_PART);
  });
}

// The factor of the FNV hashes; odd, so that no character is shifted out of the 32 bits.
const HASH_FACTOR = 0x01000193;

/**
 * Takes secrets out of a text, in whole and in part: what a server cut off is a secret still. One that is
 * shorter than its `minLength` is taken out in whole alone. The time is in proportion to the length of all
 * texts, whatever they hold: a server must not keep the process busy.
 */
export function redactParts(text: string, redactions: readonly Redaction[]): string {
  return replaceMarked(text, markParts(text, redactions));
}

/**
 * Which characters of the text are of a part, whatever white space stands between: a program prints JSON
 * with its own.
 */
function markSpacedParts(text: string, redactions: readonly Redaction[]): Uint8Array {
  const places = [...text.matchAll(/\S/g)].map(({ index }) => index);
  const marks = markParts(
    withoutSpace(text),
    redactions.map(({ text: secret, minLength }) => ({ text: withoutSpace(secret), minLength })),
  );
  const spacedMarks = new Uint8Array(text.length);
  for (const [index, place] of places.entries()) {
    // The space between two marked characters is marked too.
    if (marks[index]) spacedMarks.fill(1, place, marks[index + 1] ? places[index + 1] : place + 1);
  }
  return spacedMarks;
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}

/** Which characters of the text are of a part: 1 for each, 0 for the others. */
function markParts(text: string, redactions: readonly Redaction[]): Uint8Array {
  const marks = new Uint8Array(text.length);
  const lengthOf = (redaction: Redaction) => Math.min(redaction.minLength, redaction.text.length);
  for (const length of new Set(redactions.map(lengthOf))) {
    if (length > text.length) continue;
    const alike = redactions.filter((redaction) => lengthOf(redaction) === length);
    markPartsOfLength(length, text, alike, marks);
  }
  return marks;
}

/** Marks the parts of this length that a secret has, too. */
function markPartsOfLength(
  length: number,
  text: string,
  redactions: readonly Redaction[],
  marks: Uint8Array,
): void {
  const unfound = new Map<number, number[]>();
  // Tells most of what is not there faster than the map.
  const mayBeThere = new Uint8Array(1 << 16);
  forEachPart(text, length, (hash, at) => {
    mayBeThere[hash & 0xffff] = 1;
    const alike = unfound.get(hash);
    if (alike === undefined) unfound.set(hash, [at]);
    else alike.push(at);
  });
  for (const { text: secret } of redactions) {
    forEachPart(secret, length, (hash, at) => {
      if (mayBeThere[hash & 0xffff] === 0) return;
      const alike = unfound.get(hash);
      if (alike === undefined) return;
      // The same hash is nearly always the same part; what was found is not looked at again.
      const part = secret.slice(at, at + length);
      for (const place of alike) {
        if (text.startsWith(part, place)) marks.fill(1, place, place + length);
      }
      unfound.set(
        hash,
        alike.filter((place) => !text.startsWith(part, place)),
      );
    });
  }
}

/** Calls `visit` with the hash of each part of this length and where it begins, by a rolling hash. */
function forEachPart(
  text: string,
  length: number,
  visit: (hash: number, at: number) => void,
): void {
  let hash = 0;
  let factorOfFirst = 1;
  for (let end = 0; end < text.length; end += 1) {
    hash = Math.imul(hash, HASH_FACTOR) + text.charCodeAt(end);
    if (end < length) factorOfFirst = Math.imul(factorOfFirst, HASH_FACTOR);
    else hash -= Math.imul(text.charCodeAt(end - length), factorOfFirst);
    hash |= 0;
    if (end >= length - 1) visit(hash, end - length + 1);
  }
}

/** Writes `[redacted]` for each row of marked characters. */
export function replaceMarked(text: string, marks: Uint8Array): string {
  let result = '';
  for (let at = 0; at < text.length; ) {
    const isMarked = marks[at] === 1;
    // What overlaps or touches is one.
    let end = marks.indexOf(isMarked ? 0 : 1, at);
    if (end === -1) end = text.length;
    result += isMarked ? REDACTED : text.slice(at, end);
    at = end;
  }
  return result;
}
