/** A text decoded to bytes, without white space and escapes. */
export interface Reading {
  readonly bytes: Uint8Array;
  /** Where in the text each byte begins, and where it ends. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** A text decoded in every way in which it may echo a body. The first reading is the plain one. */
export function readInEveryWay(text: string): Reading[] {
  const utf8 = readUtf8(text);
  const encoded = unescapeReading(utf8, true);
  const readings = [utf8];
  // UTF-8 that was taken for Latin-1.
  if (/[\x80-\xff]/.test(text)) readings.push(readLatin1(text));
  for (const phase of [0, 1, 2, 3]) readings.push(regroup(encoded, base64Digits, 6, phase));
  for (const phase of [0, 1]) readings.push(regroup(encoded, hexDigits, 4, phase));
  return readings.map((reading) => unescapeReading(reading, false));
}

function readUtf8(text: string): Reading {
  const bytes = Buffer.from(text);
  const reading = createReading(bytes);
  let at = 0;
  let start = 0;
  for (const character of text) {
    const next = at + utf8Length(character.codePointAt(0) as number);
    reading.starts.fill(start, at, next);
    start += character.length;
    reading.ends.fill(start, at, next);
    at = next;
  }
  return reading;
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

function readLatin1(text: string): Reading {
  const reading = createReading(Buffer.from(text, 'latin1'));
  for (let at = 0; at < reading.bytes.length; at += 1) {
    reading.starts[at] = at;
    reading.ends[at] = at + 1;
  }
  return reading;
}

function createReading(bytes: Uint8Array): Reading {
  return { bytes, starts: new Uint32Array(bytes.length), ends: new Uint32Array(bytes.length) };
}

/** Decodes digits of base64 or hex, of which the first group begins at `phase`. */
function regroup(
  { bytes, starts, ends }: Reading,
  digits: Int8Array,
  digitBits: number,
  phase: number,
): Reading {
  const groupDigits = digitBits === 6 ? 4 : 2;
  const groupBytes = (groupDigits * digitBits) / 8;
  const groups = Math.max(0, Math.floor((bytes.length - phase) / groupDigits));
  const result = createReading(Buffer.alloc(groups * groupBytes));
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
      // What is no digit leaves its group at zero, which no body holds.
      if (isValid) result.bytes[at] = value >> (8 * (groupBytes - 1 - index));
      result.starts[at] = starts[from + Math.floor((index * 8) / digitBits)] as number;
      result.ends[at] = ends[from + Math.floor((index * 8 + 7) / digitBits)] as number;
    }
  }
  return result;
}

function unescapeReading({ bytes, starts, ends }: Reading, keepsPlus: boolean): Reading {
  const result = createReading(Buffer.alloc(bytes.length));
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const unit = keepsPlus && bytes[at] === PLUS ? UNIT + PLUS : decodeAt(bytes, at, keepsPlus);
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

/** What kind a byte is of: 0 for one that stands for itself. */
export const byteKinds = new Uint8Array(256);
/** Is left out, since it differs between spellings: white space, backslashes, a form's spaces. */
const LEFT_OUT_KIND = 1;
for (const byte of [9, 10, 11, 12, 13, 32, 0x5c, PLUS]) byteKinds[byte] = LEFT_OUT_KIND;
for (const byte of [PERCENT, AMPERSAND]) byteKinds[byte] = 2;

/** {@link decodeAt} tells two numbers in one, as an object for each byte would take too long. */
export const UNIT_BITS = 9;
export const UNIT_MASK = 511;
export const LEFT_OUT = 256;
const UNIT = 512;

/**
 * What stands at a place, decoded however often it was encoded, so that a text and its spellings come to
 * the same bytes: its length in the upper bits, and a byte or `LEFT_OUT`.
 */
export function decodeAt(bytes: Uint8Array, at: number, keepsPlus = false): number {
  const byte = bytes[at] as number;
  if (byteKinds[byte] === 0) return UNIT + byte;
  if (byte === PERCENT) return decodePercent(bytes, at, keepsPlus);
  if (byte === AMPERSAND) return decodeEntity(bytes, at);
  return UNIT + LEFT_OUT;
}

function decodePercent(bytes: Uint8Array, at: number, keepsPlus: boolean): number {
  let digits = at + 1;
  // "%2522" is "%22" that was encoded again.
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
  // "&amp;quot;" is "&quot;" that was encoded again.
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

/** The byte that two hex digits stand for; negative when they are none. */
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
