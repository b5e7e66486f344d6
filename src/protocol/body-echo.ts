// Shortest echo that counts, in characters other than white space.
const MIN_PLAIN_LENGTH = 40;

// In another spelling, a part of 40 characters may begin and end inside `&quot;`.
const MIN_DECODED_LENGTH = 30;

/**
 * Marks the characters of a text that echo the body, in whole or in part: as plain text, or as JSON, HTML, a
 * URL, a form, a quoted string, base64 or hex, with any white space. A body can be large, and encoding it in
 * each way would block the process. So the short text is decoded in each way instead, and the body is read
 * once: the time is proportional to its length, whatever both contain.
 */
export function markBodyEcho(text: string, body: string): Uint8Array {
  const readings = readInEveryWay(text);
  const parts = new PartIndex(readings);
  parts.findIn(Buffer.from(body));
  const marks = new Uint8Array(text.length);
  const visible = countVisible(text);
  for (const [index, reading] of readings.entries()) {
    for (const { from, to } of parts.foundRuns(index)) {
      const { start, end } = boundsOf(reading, from, to, text);
      const length = (visible[end] as number) - (visible[start] as number);
      const isDecoded = length > countCharacters(reading.bytes.subarray(from, to));
      if (length >= (isDecoded ? MIN_DECODED_LENGTH : MIN_PLAIN_LENGTH)) marks.fill(1, start, end);
    }
  }
  return marks;
}

/** The position of a run in the text, including characters at its edges that the reading left out. */
function boundsOf({ starts, ends }: Reading, from: number, to: number, text: string) {
  let start = starts[from] as number;
  let end = ends[to - 1] as number;
  while (/[\\+]/.test(text[start - 1] ?? '')) start -= 1;
  while (/[\\+]/.test(text[end] ?? '')) end += 1;
  return { start, end };
}

/** For each position in the text, how many characters before it are not white space. */
function countVisible(text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1);
  for (let at = 0; at < text.length; at += 1) {
    counts[at + 1] = (counts[at] as number) + (/\s/.test(text[at] as string) ? 0 : 1);
  }
  return counts;
}

/** Counts characters in UTF-8: bytes other than continuation bytes. */
function countCharacters(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => count + ((byte & 0xc0) === 0x80 ? 0 : 1), 0);
}

/** Length of the parts to search for, in bytes. The shortest echo that counts contains at least one. */
const PART_LENGTH = 8;

// Odd, and unknown to the server, which could otherwise send parts that all have the same hash.
const HIGH_FACTOR = randomFactor();
const LOW_FACTOR = randomFactor();

function randomFactor(): number {
  return (Math.random() * 2 ** 32) | 1;
}

/** The hash of a part, from its first and last four bytes. Never 0, which marks a free slot. */
function hashPart(high: number, low: number): number {
  const product = Math.imul(high, HIGH_FACTOR);
  // Without the shift, parts that differ only in the first byte of each half would often have the same hash.
  return Math.imul((product ^ (product >>> 15)) + low, LOW_FACTOR) || 1;
}

// Fibonacci hashing: the upper bits of the product depend on all bits of the hash.
const SPREAD = 0x9e3779b1 | 0;

/** The parts of all readings of a text, and which of them occur in a body. */
class PartIndex {
  /** The hashes of the parts. At most half of the slots are taken. */
  readonly #slots: Int32Array;
  readonly #slotShift: number;
  /** A filter with a bit per hash prefix. Unlike the slots it fits into the processor's cache. */
  readonly #taken: Uint8Array;
  readonly #found: Uint8Array;
  /** For each reading, the slot of the part that begins at each position. */
  readonly #places: readonly Uint32Array[];

  constructor(readings: readonly Reading[]) {
    const size = readings.reduce((sum, { bytes }) => sum + bytes.length, 4);
    const slotBits = Math.ceil(Math.log2(size)) + 1;
    this.#slots = new Int32Array(2 ** slotBits);
    this.#slotShift = 32 - slotBits;
    this.#taken = new Uint8Array(2 ** TAKEN_BITS / 8);
    this.#found = new Uint8Array(2 ** slotBits);
    this.#places = readings.map(({ bytes }) => this.#add(bytes));
  }

  #add(bytes: Uint8Array): Uint32Array {
    const places = new Uint32Array(Math.max(0, bytes.length - PART_LENGTH + 1));
    let high = 0;
    let low = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      high = (high << 8) | (low >>> 24);
      low = (low << 8) | (bytes[at] as number);
      if (at < PART_LENGTH - 1) continue;
      const hash = hashPart(high, low);
      const bit = hash >>> TAKEN_SHIFT;
      this.#taken[bit >>> 3] = (this.#taken[bit >>> 3] as number) | (1 << (bit & 7));
      const slot = this.#slotOf(hash);
      this.#slots[slot] = hash;
      places[at - PART_LENGTH + 1] = slot;
    }
    return places;
  }

  #slotOf(hash: number): number {
    const slots = this.#slots;
    let slot = Math.imul(hash, SPREAD) >>> this.#slotShift;
    while (slots[slot] !== 0 && slots[slot] !== hash) slot = (slot + 1) & (slots.length - 1);
    return slot;
  }

  /**
   * Marks the parts that occur in the body, in one pass over its bytes, which are decoded as the readings
   * are.
   */
  findIn(body: Uint8Array): void {
    // Local variables halve the time of this loop, which may run over megabytes.
    const [kinds, taken, slots, found] = [byteKinds, this.#taken, this.#slots, this.#found];
    const slotShift = this.#slotShift;
    const lastSlot = slots.length - 1;
    // Bytes that occur in no text stand for those before the beginning.
    let high = -1;
    let low = -1;
    for (let at = 0; at < body.length; at += 1) {
      let byte = body[at] as number;
      if (kinds[byte] !== 0) {
        const unit = decodeAt(body, at, false);
        at += (unit >>> UNIT_BITS) - 1;
        byte = unit & UNIT_MASK;
        if (byte === LEFT_OUT) continue;
      }
      high = (high << 8) | (low >>> 24);
      low = (low << 8) | byte;
      const hash = hashPart(high, low);
      const bit = hash >>> TAKEN_SHIFT;
      if (((taken[bit >>> 3] as number) & (1 << (bit & 7))) === 0) continue;
      let slot = Math.imul(hash, SPREAD) >>> slotShift;
      while (slots[slot] !== 0 && slots[slot] !== hash) slot = (slot + 1) & lastSlot;
      // Marking a free slot does no harm: no position refers to it.
      found[slot] = 1;
    }
  }

  /** The bounds of each run of consecutive parts that were found. */
  foundRuns(reading: number): readonly { from: number; to: number }[] {
    const places = this.#places[reading] as Uint32Array;
    const runs: { from: number; to: number }[] = [];
    let from = -1;
    for (let at = 0; at <= places.length; at += 1) {
      const isFound = at < places.length && this.#found[places[at] as number] === 1;
      if (isFound && from === -1) from = at;
      if (isFound || from === -1) continue;
      runs.push({ from, to: at - 1 + PART_LENGTH });
      from = -1;
    }
    return runs;
  }
}

const TAKEN_BITS = 18;
const TAKEN_SHIFT = 32 - TAKEN_BITS;

/** A text decoded to bytes, without white space and escapes. */
interface Reading {
  readonly bytes: Uint8Array;
  /** For each byte, where its characters begin and end in the text. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Decodes a text in every way in which it may echo a body. */
function readInEveryWay(text: string): readonly Reading[] {
  const utf8 = readText(text, Buffer.from(text), utf8Length);
  const readings = [utf8];
  // UTF-8 that was misread as Latin-1.
  if (/[\x80-\xff]/.test(text)) {
    readings.push(readText(text, Buffer.from(text, 'latin1'), (_codePoint, units) => units));
  }
  const encoded = unescapeReading(utf8, true);
  for (const phase of [0, 1, 2, 3]) readings.push(regroup(encoded, base64Digits, 6, phase));
  for (const phase of [0, 1]) readings.push(regroup(encoded, hexDigits, 4, phase));
  return readings.map((reading) => unescapeReading(reading, false));
}

function readText(
  text: string,
  bytes: Uint8Array,
  lengthOf: (codePoint: number, units: number) => number,
): Reading {
  const { starts, ends } = createReading(bytes.length);
  let at = 0;
  let start = 0;
  for (const character of text) {
    const next = at + lengthOf(character.codePointAt(0) as number, character.length);
    starts.fill(start, at, next);
    start += character.length;
    ends.fill(start, at, next);
    at = next;
  }
  return { bytes, starts, ends };
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

function createReading(length: number): Reading {
  const [bytes, starts, ends] = [
    new Uint8Array(length),
    new Uint32Array(length),
    new Uint32Array(length),
  ];
  return { bytes, starts, ends };
}

/** Decodes base64 or hex digits; the first group begins at `phase`. */
function regroup(
  { bytes, starts, ends }: Reading,
  digits: Int8Array,
  digitBits: number,
  phase: number,
): Reading {
  const groupDigits = digitBits === 6 ? 4 : 2;
  const groupBytes = (groupDigits * digitBits) / 8;
  const groups = Math.max(0, Math.floor((bytes.length - phase) / groupDigits));
  const result = createReading(groups * groupBytes);
  for (let group = 0; group < groups; group += 1) {
    const from = phase + group * groupDigits;
    let value = 0;
    let isValid = true;
    for (let at = from; at < from + groupDigits; at += 1) {
      const bits = digits[bytes[at] as number] as number;
      if (bits < 0) isValid = false;
      value = (value << digitBits) | bits;
    }
    for (let index = 0; index < groupBytes; index += 1) {
      const at = group * groupBytes + index;
      // A group with a non-digit stays zero, which occurs in no body.
      if (isValid) result.bytes[at] = value >> (8 * (groupBytes - 1 - index));
      result.starts[at] = starts[from + Math.floor((index * 8) / digitBits)] as number;
      result.ends[at] = ends[from + Math.floor((index * 8 + 7) / digitBits)] as number;
    }
  }
  return result;
}

function unescapeReading({ bytes, starts, ends }: Reading, keepsPlus: boolean): Reading {
  const result = createReading(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const unit = decodeAt(bytes, at, keepsPlus);
    const next = at + (unit >>> UNIT_BITS);
    if ((unit & UNIT_MASK) !== LEFT_OUT) {
      result.bytes[length] = unit & UNIT_MASK;
      result.starts[length] = starts[at] as number;
      result.ends[length] = ends[next - 1] as number;
      length += 1;
    }
    at = next;
  }
  return {
    bytes: result.bytes.subarray(0, length),
    starts: result.starts.subarray(0, length),
    ends: result.ends.subarray(0, length),
  };
}

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const PLUS = 0x2b;

/** The kind of each byte: 0 for a byte that stands for itself. */
const byteKinds = new Uint8Array(256);
/** Left out, because encodings differ in them: white space, backslashes, a form's spaces. */
const LEFT_OUT_KIND = 1;
for (const byte of [9, 10, 11, 12, 13, 32, 0x5c, PLUS]) byteKinds[byte] = LEFT_OUT_KIND;
for (const byte of [PERCENT, AMPERSAND]) byteKinds[byte] = 2;

// decodeAt packs two numbers into one, since an object per byte would be too slow.
const UNIT_BITS = 9;
const UNIT_MASK = 511;
const LEFT_OUT = 256;
const UNIT = 512;

/**
 * Decodes the unit at a position, however often it was encoded, so that all encodings of a text give the same
 * bytes. Returns its length in the upper bits, and a byte or `LEFT_OUT` in the lower.
 */
function decodeAt(bytes: Uint8Array, at: number, keepsPlus: boolean): number {
  const byte = bytes[at] as number;
  if (byteKinds[byte] === 0 || (keepsPlus && byte === PLUS)) return UNIT + byte;
  if (byte === PERCENT) return decodePercent(bytes, at, keepsPlus);
  if (byte === AMPERSAND) return decodeEntity(bytes, at);
  return UNIT + LEFT_OUT;
}

function decodePercent(bytes: Uint8Array, at: number, keepsPlus: boolean): number {
  let digits = at + 1;
  // "%2522" is an encoded "%22".
  while (isText(bytes, digits, '25') && hexPair(bytes, digits + 2) >= 0) digits += 2;
  const decoded = hexPair(bytes, digits);
  if (decoded < 0) return UNIT + PERCENT;
  const isLeftOut = byteKinds[decoded] === LEFT_OUT_KIND && !(keepsPlus && decoded === PLUS);
  return (digits + 2 - at) * UNIT + (isLeftOut ? LEFT_OUT : decoded);
}

const entities = [
  { name: 'quot;', byte: 0x22 },
  { name: 'lt;', byte: 0x3c },
  { name: 'gt;', byte: 0x3e },
];

function decodeEntity(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  // "&amp;quot;" is an encoded "&quot;".
  while (isText(bytes, end, 'amp;')) end += 4;
  for (const { name, byte } of entities) {
    if (isText(bytes, end, name)) return (end + name.length - at) * UNIT + byte;
  }
  return (end - at) * UNIT + AMPERSAND;
}

function isText(bytes: Uint8Array, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/** The byte that two hex digits stand for; negative if they are not hex digits. */
function hexPair(bytes: Uint8Array, at: number): number {
  if (at + 1 >= bytes.length) return -1;
  const high = hexDigits[bytes[at] as number] as number;
  const low = hexDigits[bytes[at + 1] as number] as number;
  return high < 0 || low < 0 ? -1 : (high << 4) | low;
}

const hexDigits = digitTable('0123456789abcdef', '0123456789ABCDEF');
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const base64Digits = digitTable(`${letters}+/`, `${letters}-_`);

function digitTable(...alphabets: readonly string[]): Int8Array {
  const table = new Int8Array(256).fill(-1);
  for (const alphabet of alphabets) {
    for (let digit = 0; digit < alphabet.length; digit += 1) {
      table[alphabet.charCodeAt(digit)] = digit;
    }
  }
  return table;
}
