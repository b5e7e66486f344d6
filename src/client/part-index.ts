import { byteKinds, decodeAt, LEFT_OUT, UNIT_BITS, UNIT_MASK } from './echo-readings.js';

/** The parts that are looked for, in bytes: what an echo in another spelling has of the body at least. */
export const PART_LENGTH = 8;

// The bytes that are looked at together, at first.
const WORD = 4;

// Each part holds a word that begins at one of as many places in turn.
const STRIDE = PART_LENGTH - WORD + 1;

// As far as a word may reach that has white space or escapes inside.
const MAX_WORD_SPAN = 16;

// Odd, and unknown to a server, which could otherwise send parts that all have one hash.
const [HIGH_FACTOR, LOW_FACTOR] = [randomFactor(), randomFactor()];

function randomFactor(): number {
  return Math.floor(Math.random() * 2 ** 31) * 2 + 1;
}

// Fibonacci hashing: the upper bits of the product depend on all bits of what is hashed.
const SPREAD = 0x9e3779b1;

/** The parts of some readings of a text, and which of them a body has. */
export class PartIndex {
  /** Which words the readings have, by their hash. Tells most of a body apart from them. */
  readonly #words: Uint8Array;
  readonly #wordShift: number;
  /** The hashes of the parts; half of the slots are taken at most, and zero is a free one. */
  readonly #slots: Int32Array;
  readonly #slotShift: number;
  readonly #found: Uint8Array;
  /** Of each reading the slots of the parts that begin at its places. */
  readonly #places: readonly Uint32Array[];

  constructor(readings: readonly Uint8Array[]) {
    const size = readings.reduce((sum, { length }) => sum + length, 4);
    const slotBits = Math.ceil(Math.log2(size)) + 1;
    const wordBits = Math.min(17, slotBits + 3);
    this.#words = new Uint8Array(2 ** wordBits);
    this.#wordShift = 32 - wordBits;
    this.#slots = new Int32Array(2 ** slotBits);
    this.#slotShift = 32 - slotBits;
    this.#found = new Uint8Array(2 ** slotBits);
    this.#places = readings.map((bytes) => this.#add(bytes));
  }

  #add(bytes: Uint8Array): Uint32Array {
    const places = new Uint32Array(Math.max(0, bytes.length - PART_LENGTH + 1));
    let high = 0;
    let low = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      high = (high << 8) | (low >>> 24);
      low = (low << 8) | (bytes[at] as number);
      if (at >= WORD - 1) this.#words[Math.imul(low, SPREAD) >>> this.#wordShift] = 1;
      if (at < PART_LENGTH - 1) continue;
      const hash = hashPart(high, low);
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

  /** Finds the parts that the body has, in one pass. */
  findIn(body: Uint8Array): void {
    const words = this.#words;
    const wordShift = this.#wordShift;
    let scanned = 0;
    for (let at = 0; at < body.length; at += STRIDE) {
      if (words[Math.imul(readWord(body, at), SPREAD) >>> wordShift] === 0) continue;
      // From a bit before, where the part may begin; but nothing twice, or it would take its time.
      const from = Math.max(0, scanned - WORD, at - MAX_WORD_SPAN - STRIDE);
      scanned = this.#scan(body, from, at + MAX_WORD_SPAN);
      at = Math.max(at, scanned - STRIDE);
    }
  }

  /**
   * Looks at each byte up to `until`, and further as long as the words are those of the readings.
   *
   * @returns how far it went
   */
  #scan(body: Uint8Array, from: number, until: number): number {
    const words = this.#words;
    const wordShift = this.#wordShift;
    // Bytes that no text has, in place of those before.
    let high = -1;
    let low = -1;
    let wordsInRow = 0;
    let at = from;
    while (at < body.length && (at < until || wordsInRow > 0)) {
      let byte = body[at] as number;
      if (byteKinds[byte] === 0) {
        at += 1;
      } else {
        const unit = decodeAt(body, at);
        at += unit >>> UNIT_BITS;
        byte = unit & UNIT_MASK;
        if (byte === LEFT_OUT) continue;
      }
      high = (high << 8) | (low >>> 24);
      low = (low << 8) | byte;
      wordsInRow = words[Math.imul(low, SPREAD) >>> wordShift] === 0 ? 0 : wordsInRow + 1;
      // A free slot that is marked does no harm: no place has it.
      if (wordsInRow >= STRIDE) this.#found[this.#slotOf(hashPart(high, low))] = 1;
    }
    return at;
  }

  /** Whether the body has the part of a reading that begins there. */
  isFound(reading: number, at: number): boolean {
    const slot = (this.#places[reading] as Uint32Array)[at];
    return slot !== undefined && this.#found[slot] === 1;
  }
}

function hashPart(high: number, low: number): number {
  return (Math.imul(high, HIGH_FACTOR) + Math.imul(low, LOW_FACTOR)) | 0 || 1;
}

/** The four bytes that begin at a place, decoded. */
function readWord(body: Uint8Array, start: number): number {
  const first = body[start] as number;
  const second = body[start + 1] as number;
  const third = body[start + 2] as number;
  const fourth = body[start + 3] as number;
  const kinds =
    (byteKinds[first] as number) |
    (byteKinds[second] as number) |
    (byteKinds[third] as number) |
    (byteKinds[fourth] as number);
  if (kinds === 0) return (first << 24) | (second << 16) | (third << 8) | fourth;
  let word = 0;
  let length = 0;
  const end = Math.min(body.length, start + MAX_WORD_SPAN);
  for (let at = start; at < end && length < WORD; ) {
    const unit = decodeAt(body, at);
    at += unit >>> UNIT_BITS;
    if ((unit & UNIT_MASK) === LEFT_OUT) continue;
    word = (word << 8) | (unit & UNIT_MASK);
    length += 1;
  }
  return word;
}
