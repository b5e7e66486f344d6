/** A text to take out of others, and how many of its characters in a row are too many to leave. */
export interface Redaction {
  readonly text: string;
  readonly minLength: number;
}

export const REDACTED = '[redacted]';

// The factor of the FNV hashes; odd, so that no character is shifted out of the 32 bits.
const HASH_FACTOR = 0x01000193;

/**
 * Takes texts out of another, in whole and in part: what a server cut off is a secret still. One that
 * is shorter than its `minLength` is taken out in whole alone. The time is in proportion to the length
 * of all texts, whatever they hold: a server must not keep the process busy.
 */
export function redactParts(text: string, redactions: readonly Redaction[]): string {
  return replaceMarked(text, markParts(text, redactions));
}

/**
 * Which characters of the text are of a part, whatever white space stands between: a program prints JSON
 * with its own.
 */
export function markSpacedParts(text: string, redactions: readonly Redaction[]): Uint8Array {
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
  for (const length of new Set(redactions.map(partLength))) {
    if (length > text.length) continue;
    const alike = redactions.filter((redaction) => partLength(redaction) === length);
    markPartsOfLength(length, text, alike, marks);
  }
  return marks;
}

function partLength({ text, minLength }: Redaction): number {
  return Math.min(minLength, text.length);
}

/** Marks the parts of this length that one of the other texts has, too. */
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

/** Tells the hash of each part of this length and where it begins, by a hash that rolls along. */
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
