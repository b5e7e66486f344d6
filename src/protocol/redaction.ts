import { markBodyEcho } from './body-echo.js';

export const REDACTED = '[redacted]';

// A shorter part of a secret is useless to an attacker, and may be an ordinary word.
const MIN_SECRET_PART = 12;

// The service may quote a field, for example a reference as long as a UUID. Anything longer, or the longest
// field name with the beginning of its value, counts as part of the body.
const MIN_BODY_PART = 40;

// Longer texts are cut instead of searched: a server must not keep the process busy.
const MAX_SEARCHED_LENGTH = 4_096;

// Nor must it do so with many texts.
const MAX_SEARCHED_IN_ALL = 4 * MAX_SEARCHED_LENGTH;

// For a longer body the texts are decoded in every way, instead of encoding the body in every way.
const MAX_SPELLED_LENGTH = 2_048;

/** A secret, and the shortest fragment that must be redacted. */
export interface Redaction {
  readonly text: string;
  readonly minLength: number;
}

/** Removes secrets and a request's body from texts from outside. Shows nothing when printed. */
export class Redactor {
  readonly #redactions: readonly Redaction[];

  constructor(secrets: readonly string[]) {
    this.#redactions = secrets.flatMap((secret) => toRedactions(secret, MIN_SECRET_PART));
  }

  /**
   * Removes every encoding of the secrets and of `requestBody` from the texts, in whole and in part: a server
   * may echo what it was sent, or the beginning of it. Takes all texts at once, since each search takes time
   * in proportion to the body.
   */
  redactAll(texts: readonly string[], requestBody?: string): string[] {
    let redacted = texts.map((text) =>
      redactParts(text.slice(0, MAX_SEARCHED_LENGTH), this.#redactions),
    );
    if (requestBody) redacted = redactBody(redacted, requestBody);
    // The end may be the beginning of a secret or body that was cut off.
    return redacted.map((text, index) =>
      (texts[index] as string).length > MAX_SEARCHED_LENGTH ? text.slice(0, -MIN_BODY_PART) : text,
    );
  }
}

function redactBody(texts: readonly string[], body: string): string[] {
  // Most texts are too short to contain a part of the body.
  const minLength = Math.min(MIN_BODY_PART, body.length);
  const toShown = (text: string): string => (text.length < minLength ? text : REDACTED);
  let left = MAX_SEARCHED_IN_ALL;
  const searched = texts.map((text) => {
    if (text.length < minLength) return '';
    left -= text.length;
    return left < 0 ? '' : text;
  });
  // JSON has no NUL, so no part of the body can span two texts.
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
    // JSON that is safe in HTML, as Go, .NET and serializers that escape everything write it.
    ...[/[<>&]/g, /[<>&'"`+]/g, /[^A-Za-z0-9]/g].flatMap((escaped) =>
      escapeUnicode(secret, escaped),
    ),
    // As programs print a string, in single or double quotes.
    secret.replaceAll(/['\\]/g, '\\$&'),
    secret.replaceAll('\\', '\\\\'),
    escapeHtml(secret),
    base64,
    encodeURIComponent(base64),
    // Padding is sometimes left off; the rest can still be decoded.
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

/**
 * Base64 of a longer text that contains the secret. Three bytes make four characters, so there are three
 * alignments.
 */
function shiftedBase64(secret: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret]);
    // Without the characters that depend on the bytes before or after.
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
 * Removes secrets from a text, in whole and in part, since a part that a server cut off is still secret. A
 * secret shorter than its `minLength` is removed only as a whole. The time is proportional to the length of
 * all texts, whatever they contain: a server must not keep the process busy.
 */
export function redactParts(text: string, redactions: readonly Redaction[]): string {
  return replaceMarked(text, markParts(text, redactions));
}

/**
 * Marks the characters that belong to a part, whatever white space is between them: a program may print JSON
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
    // Space between two marked characters is marked too.
    if (marks[index]) spacedMarks.fill(1, place, marks[index + 1] ? places[index + 1] : place + 1);
  }
  return spacedMarks;
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}

/** Marks the characters of the text that belong to a part with 1, the others with 0. */
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

/** Marks the parts of this length that also occur in a secret. */
function markPartsOfLength(
  length: number,
  text: string,
  redactions: readonly Redaction[],
  marks: Uint8Array,
): void {
  const unfound = new Map<number, number[]>();
  // Rules out most absent hashes faster than the map.
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
      // Equal hashes are nearly always equal parts. Places that were found are not compared again.
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

/** Calls `visit` with the rolling hash of each part of this length, and its position. */
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

/** Replaces each run of marked characters by `[redacted]`. */
export function replaceMarked(text: string, marks: Uint8Array): string {
  let result = '';
  for (let at = 0; at < text.length; ) {
    const isMarked = marks[at] === 1;
    // Parts that overlap or touch are one run.
    let end = marks.indexOf(isMarked ? 0 : 1, at);
    if (end === -1) end = text.length;
    result += isMarked ? REDACTED : text.slice(at, end);
    at = end;
  }
  return result;
}
