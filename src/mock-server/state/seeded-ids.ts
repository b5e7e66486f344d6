import { hash, randomBytes } from 'node:crypto';

/** What an identifier is for. Each purpose has a separate sequence. */
export type IdPurpose = 'referenceNumber' | 'providerReference' | 'requestId' | 'delivery';

/**
 * Identifiers derived from a seed. Each purpose has a separate sequence, so the third referenceNumber of
 * seed 7 is always the same, however many requests failed before.
 */
export class SeededIds {
  readonly seed: number;
  readonly #sequences = new Map<IdPurpose, Sequence>();

  constructor(seed: number) {
    this.seed = seed;
  }

  /** The next identifier, in the shape of a UUID of version 4. */
  next(purpose: IdPurpose): string {
    let sequence = this.#sequences.get(purpose);
    if (sequence === undefined) {
      sequence = new Sequence(`${this.seed}.${purpose}`);
      this.#sequences.set(purpose, sequence);
    }
    return sequence.next();
  }

  /** A default credential, the same on every call. */
  token(purpose: string): string {
    return writeToken(purpose, hash('sha256', `${this.seed}.token.${purpose}`));
  }

  /** Restarts every sequence. */
  restart(): void {
    this.#sequences.clear();
  }
}

/** One SHA-512 gives the digits of four identifiers. */
const UUID_DIGITS = 32;
const HASH_DIGITS = 128;

/** A hash in counter mode, which separates neighbouring seeds. */
class Sequence {
  readonly #label: string;
  #hashes = 0;
  #digits = '';
  #used = HASH_DIGITS;

  constructor(label: string) {
    this.#label = label;
  }

  next(): string {
    if (this.#used === HASH_DIGITS) {
      this.#digits = hash('sha512', `${this.#label}.${this.#hashes}`);
      this.#hashes += 1;
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += UUID_DIGITS;
    return toUuid(this.#digits, start);
  }
}

interface ChosenSeed {
  readonly seed: number;
  readonly isSeedGiven: boolean;
}

/**
 * A default credential. Derived from the seed only when that was given: a random seed could be worked out from
 * the identifiers, and from it the signing secret.
 */
export function defaultCredential({ seed, isSeedGiven }: ChosenSeed, purpose: string): string {
  return isSeedGiven
    ? new SeededIds(seed).token(purpose)
    : writeToken(purpose, randomBytes(12).toString('hex'));
}

function writeToken(purpose: string, hex: string): string {
  return `mock_${purpose}_${hex.slice(0, 24)}`;
}

/** Two bits of the variant, then two that are random. */
const VARIANT_DIGITS = '89ab';

function toUuid(hex: string, start: number): string {
  const digits = (from: number, to: number) => hex.slice(start + from, start + to);
  const variant = VARIANT_DIGITS.charAt(Number.parseInt(digits(16, 17), 16) & 0x3);
  // Joined, the text is one piece; a template keeps its parts in memory.
  return [
    digits(0, 8),
    digits(8, 12),
    `4${digits(13, 16)}`,
    `${variant}${digits(17, 20)}`,
    digits(20, 32),
  ].join('-');
}
